/** What a slot costs its owner, from the owner's own measurements. */
import { slotsOf } from '../api/slots.ts';
import type { NodeId, SlotMeasure } from '../api/view.ts';
import { compareText, ownSlots, type ReportedNode } from './topology.ts';

export type Measure = 'keys' | 'bytes' | 'load';

export type Measured =
  | { readonly costs: ReadonlyMap<number, number>; readonly what: string }
  | { readonly unmeasured: NodeId; readonly what: string };

interface Gauge {
  readonly what: string;
  read(measure: SlotMeasure): number | undefined;
}

const keys: Gauge = { what: 'keys', read: (measure) => measure.keys };
const bytes: Gauge = { what: 'bytes of memory', read: (measure) => measure.bytes };
const cpu: Gauge = { what: 'CPU time', read: (measure) => measure.cpuUsec };
const network: Gauge = {
  what: 'network traffic',
  read: ({ networkBytesIn, networkBytesOut }) =>
    networkBytesIn === undefined || networkBytesOut === undefined ? undefined : networkBytesIn + networkBytesOut,
};

/**
 * One gauge for all: costs of different kinds cannot be compared. Load is CPU time where every node measures it, else
 * network traffic. A node that does not measure a slot it owns makes the gauge useless: unknown is not zero.
 */
export function measureSlots(nodes: readonly ReportedNode[], measure: Measure): Measured {
  const gauges = { keys: [keys], bytes: [bytes], load: [cpu, network] }[measure];
  let failed: Measured | undefined;
  for (const gauge of gauges) {
    const measured = readAll(nodes, gauge);
    if ('costs' in measured) return measured;
    failed ??= measured;
  }
  return failed ?? { costs: new Map(), what: measure };
}

function readAll(nodes: readonly ReportedNode[], gauge: Gauge): Measured {
  const costs = new Map<number, number>();
  for (const node of [...nodes].sort((a, b) => compareText(a.id, b.id))) {
    for (const slot of slotsOf(ownSlots(node))) {
      const measure = node.report.value.slotMeasures[slot];
      const cost = measure && gauge.read(measure);
      if (cost === undefined) return { unmeasured: node.id, what: gauge.what };
      costs.set(slot, cost);
    }
  }
  return { costs, what: gauge.what };
}
