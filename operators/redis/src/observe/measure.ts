/** How many keys, bytes and how much load a node has in each slot. A slot that could not be read is left out: unknown, not empty. */
import type { RedisPort, Reply } from '../api/port.ts';
import { type SlotRanges, slotsOf } from '../api/slots.ts';
import type { Endpoint, SlotMeasure } from '../api/view.ts';
import { inDatabase } from './databases.ts';
import { fieldsOf } from './jobs.ts';

export type Measures = Record<number, SlotMeasure>;

export interface MeasuredNode {
  readonly port: RedisPort;
  readonly endpoint: Endpoint;
  readonly timeoutMs: number;
  /** Databases that hold keys, from INFO: the others need not be asked. */
  readonly databases: readonly number[];
}

/** Keys whose size is asked for in each slot; the others are taken to be as big on average. */
const SAMPLE = 5;

/** COUNTKEYSINSLOT counts in the selected database only, so it is asked in each that holds keys. */
export async function countKeys(node: MeasuredNode, slots: SlotRanges): Promise<Measures> {
  const wanted = [...slotsOf(slots)];
  const totals: (number | undefined)[] = wanted.map(() => 0);
  const commands = wanted.map((slot) => ['CLUSTER', 'COUNTKEYSINSLOT', String(slot)]);
  for (const database of node.databases) {
    const options = { timeoutMs: node.timeoutMs };
    const replies = await inDatabase(node.port, node.endpoint, database, commands, options);
    replies.forEach((reply, index) => {
      const total = totals[index];
      totals[index] = total === undefined || typeof reply !== 'number' ? undefined : total + reply;
    });
  }
  const measures: Measures = {};
  wanted.forEach((slot, index) => {
    const keys = totals[index];
    if (keys !== undefined) measures[slot] = { keys };
  });
  return measures;
}

/** CLUSTER SLOT-STATS over the node's own slots. Only keys are always there; the rest is a setting of the server. */
export async function slotStats(node: MeasuredNode, slots: SlotRanges): Promise<Measures | undefined> {
  const commands = slots.map(([first, last]) => ['CLUSTER', 'SLOT-STATS', 'SLOTSRANGE', String(first), String(last)]);
  const replies = await inDatabase(node.port, node.endpoint, 0, commands, { timeoutMs: node.timeoutMs });
  if (replies.some((reply) => reply === undefined)) return undefined;
  const measures: Measures = {};
  for (const reply of replies) {
    for (const entry of reply as readonly Reply[]) {
      const [slot, stats] = entry as readonly Reply[];
      measures[Number(slot)] = measureOf(fieldsOf(stats));
    }
  }
  return measures;
}

function measureOf(fields: ReadonlyMap<string, Reply>): SlotMeasure {
  const number = (name: string): number | undefined => {
    const value = fields.get(name);
    return value === undefined ? undefined : Number(value);
  };
  const bytes = number('memory-bytes');
  const cpuUsec = number('cpu-usec');
  const networkBytesIn = number('network-bytes-in');
  const networkBytesOut = number('network-bytes-out');
  return {
    keys: number('key-count') ?? 0,
    ...(bytes === undefined ? {} : { bytes }),
    ...(cpuUsec === undefined ? {} : { cpuUsec }),
    ...(networkBytesIn === undefined ? {} : { networkBytesIn }),
    ...(networkBytesOut === undefined ? {} : { networkBytesOut }),
  };
}

/** Adds bytes, estimated from MEMORY USAGE of a few keys of each slot, to measures that have only keys. */
export async function withSampledBytes(node: MeasuredNode, measures: Measures): Promise<Measures> {
  const sizes = new Map<number, number[]>();
  for (const database of node.databases) {
    const slots = Object.keys(measures)
      .map(Number)
      .filter((slot) => (measures[slot]?.keys ?? 0) > 0);
    const options = { timeoutMs: node.timeoutMs, binary: true };
    const keyReplies = await inDatabase(
      node.port,
      node.endpoint,
      database,
      slots.map((slot) => ['CLUSTER', 'GETKEYSINSLOT', String(slot), String(SAMPLE)]),
      options,
    );
    const samples = slots.flatMap((slot, index) => {
      const keys = keyReplies[index];
      return Array.isArray(keys) ? (keys as readonly Buffer[]).map((key) => ({ slot, key })) : [];
    });
    const sizeReplies = await inDatabase(
      node.port,
      node.endpoint,
      database,
      samples.map(({ key }) => ['MEMORY', 'USAGE', key]),
      options,
    );
    samples.forEach(({ slot }, index) => {
      const size = sizeReplies[index];
      if (typeof size !== 'number') return; // gone since it was listed
      const known = sizes.get(slot);
      if (known) known.push(size);
      else sizes.set(slot, [size]);
    });
  }
  const measured: Measures = {};
  for (const [text, measure] of Object.entries(measures)) {
    const sample = sizes.get(Number(text));
    const mean = sample ? sample.reduce((sum, size) => sum + size, 0) / sample.length : undefined;
    if (measure.keys === 0) measured[Number(text)] = { ...measure, bytes: 0 };
    else if (mean === undefined) measured[Number(text)] = measure;
    else measured[Number(text)] = { ...measure, bytes: Math.round(mean * measure.keys) };
  }
  return measured;
}
