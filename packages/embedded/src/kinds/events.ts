/** Events of the core group and of events.k8s.io are the same objects under other names. They are stored as core events. */
import type { Draft } from '../object/draft.ts';
import { defaultEvent } from './defaults/others.ts';
import type { Conversion } from './kind.ts';

/** The newer name, and the stored one. */
const names: readonly (readonly [string, string])[] = [
  ['regarding', 'involvedObject'],
  ['note', 'message'],
  ['reportingController', 'reportingComponent'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
];

function renamed(object: Draft, from: 0 | 1): Draft {
  const result: Draft = { ...object };
  for (const pair of names) {
    const before = pair[from];
    const value = result[before];
    if (value === undefined) continue;
    delete result[before];
    result[pair[from === 0 ? 1 : 0]] = value;
  }
  return result;
}

/** Texts that the one form always has and the other leaves out when they are empty. */
const OPTIONAL = ['reportingController', 'reportingInstance'];

export const eventConversion: Conversion = {
  toStored(object) {
    const stored = renamed(object, 0);
    defaultEvent(stored);
    return stored;
  },
  fromStored(object) {
    const shown = renamed(object, 1);
    for (const field of OPTIONAL) if (shown[field] === '') delete shown[field];
    return shown;
  },
};
