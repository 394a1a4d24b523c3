/** What figures of several sizes are held to. Pure. */
import { atMost, type Bar, median } from '../report/bars.ts';
import type { ScaleFigures } from './measure.ts';

export const LARGEST = 1_000;
export const SMALLER = 100;
/** DESIGN: objects stay under 256 KB at 1,000 nodes. */
const MOST_OBJECT_KB = 256;
const MOST_KB_PER_SECOND = 40;
const MOST_GROWTH = 1.5;

export const perNodeMs = ({ nodes, turnCpuMs }: ScaleFigures): number => median(turnCpuMs) / nodes;

/** Of the manager, both ways. */
export const kilobytesPerSecond = ({ idle }: ScaleFigures): number =>
  (idle.sentBytes + idle.receivedBytes) / 1_000 / idle.seconds;

/** Of the manager and of an agent beside each node together. */
const sentPerSecond = ({ idle, agents }: ScaleFigures): number =>
  (idle.sentBytes / idle.seconds + agents.sentPerSecond) / 1_000;

/** Most of it does not depend on nodes, so that only gross growth shows; what a turn needs shows the rest. */
const keptPerNode = ({ nodes, keptBytes }: ScaleFigures): number => keptBytes / nodes;

const turnHeapPerNode = ({ nodes, turnBytes }: ScaleFigures): number => turnBytes / nodes;

/** Held at the largest; a part of the sizes has a part of the bars. */
export function barsOf(all: readonly ScaleFigures[]): readonly Bar[] {
  const largest = all.find(({ nodes }) => nodes === LARGEST);
  const smaller = all.find(({ nodes }) => nodes === SMALLER);
  if (!largest) return [];
  const growth = (of: (figures: ScaleFigures) => number) => (smaller ? of(largest) / of(smaller) : Number.NaN);
  return [
    atMost(`idle, to and from the API at ${LARGEST} nodes, KB/s`, kilobytesPerSecond(largest), MOST_KB_PER_SECOND),
    atMost(`${LARGEST} idle agents, to the API, KB/s`, largest.agents.sentPerSecond / 1_000, MOST_KB_PER_SECOND),
    atMost(`idle manager and ${LARGEST} agents, to the API, KB/s`, sentPerSecond(largest), MOST_KB_PER_SECOND),
    atMost(`a turn for each node, ${LARGEST} nodes / ${SMALLER} nodes`, growth(perNodeMs), MOST_GROWTH),
    atMost(`kept heap for each node, ${LARGEST} nodes / ${SMALLER} nodes`, growth(keptPerNode), MOST_GROWTH),
    atMost(`heap in a turn for each node, ${LARGEST} nodes / ${SMALLER} nodes`, growth(turnHeapPerNode), MOST_GROWTH),
    atMost(`the resource at ${LARGEST} nodes, KB`, largest.objectBytes / 1_024, MOST_OBJECT_KB),
    atMost(`the resource while ${LARGEST} nodes are created, KB`, largest.creatingBytes / 1_024, MOST_OBJECT_KB),
  ];
}
