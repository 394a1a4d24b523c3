import { isIP } from 'node:net';
import { done, failed } from '@reeve/runtime';
import type { Meet } from '../api/commands.ts';
import { formatEndpoint, type NodeLine, type NodeRef } from '../api/view.ts';
import { askAll, doneIf, handlerFor, identify, type IsDone, nameOf, StaleEvidence, tableOf } from './evidence.ts';

/** The bus listens 10,000 ports above unless told otherwise; only then does MEET take the extra argument. */
const USUAL_BUS_OFFSET = 10_000;

function isAt(line: NodeLine, { endpoint }: NodeRef): boolean {
  return line.host === endpoint.host && line.port === endpoint.port;
}

function knowsWell(lines: readonly NodeLine[], node: NodeRef): boolean {
  const line = lines.find((other) => other.id === node.id);
  return line?.linkUp === true && isAt(line, node);
}

const haveMet: IsDone<Meet> = async ({ pairs, evenIfKnown }, context) => {
  let isDone = true;
  for (const { from, to } of pairs) {
    const { others, handshakes } = await tableOf(context, from);
    if (knowsWell(others, to)) continue;
    if (handshakes.some((line) => isAt(line, to))) return 'unknown'; // they are at it
    isDone = false;
  }
  // Who knew each other before looks the same after another greeting.
  return isDone && evenIfKnown ? 'unknown' : doneIf(isDone);
};

/** Sends MEET where the two do not know each other at these addresses yet. That they got to know each other, the next observation tells. */
export const meetHandler = handlerFor<Meet>('meet', haveMet, async (command, context) => {
  const named = command.pairs.find(({ to }) => isIP(to.endpoint.host) === 0);
  if (named)
    return failed('ADDRESS_NOT_IP', `CLUSTER MEET needs an IP address, not ${formatEndpoint(named.to.endpoint)}`);
  await identify(
    context,
    command.pairs.map(({ to }) => to),
  );
  const byFrom = new Map<string, { from: NodeRef; to: Meet['pairs'][number][] }>();
  for (const pair of command.pairs) {
    const entry = byFrom.get(pair.from.id) ?? { from: pair.from, to: [] };
    entry.to.push(pair);
    byFrom.set(pair.from.id, entry);
  }
  await Promise.all(
    [...byFrom.values()].map(async ({ from, to }) => {
      const { others } = await tableOf(context, from);
      const stranger = command.within && others.find((line) => !command.within?.includes(line.id));
      if (stranger)
        throw new StaleEvidence(`${nameOf(from)} knows ${stranger.id.slice(0, 8)}, who is not of this cluster`);
      const unknown = to.filter((pair) => command.evenIfKnown === true || !knowsWell(others, pair.to));
      await askAll(
        context,
        from,
        unknown.map(({ to: { endpoint }, toBusPort }) => [
          'CLUSTER',
          'MEET',
          endpoint.host,
          String(endpoint.port),
          ...(toBusPort === endpoint.port + USUAL_BUS_OFFSET ? [] : [String(toBusPort)]),
        ]),
      );
    }),
  );
  return done;
});
