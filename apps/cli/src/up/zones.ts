/** The zones of `--zones A,B,…`: values of a label, which the API server would refuse otherwise, node by node. */
import { usage } from '../errors.ts';

const MOST = 63;
const VALUE = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/** @param text as given; undefined: none, and each node is a zone of its own. */
export function zonesOf(text: string | undefined): readonly string[] {
  if (text === undefined) return [];
  const zones = text.split(',').map((zone) => zone.trim());
  for (const zone of zones) {
    if (zone === '') throw usage(`--zones ${text}: a zone without a name`);
    if (zone.length > MOST || !VALUE.test(zone)) {
      throw usage(
        `--zones: '${zone}' is no name of a zone: at most ${MOST} letters, digits, '-', '_' and '.', with a letter or a digit at both ends`,
      );
    }
  }
  return zones;
}
