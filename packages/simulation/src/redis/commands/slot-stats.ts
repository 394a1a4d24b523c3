/** CLUSTER SLOT-STATS: keys (and what the model knows of load) by slot, of the slots this server has. */
import { type Bulk, bulk, err, type RawReply } from '../reply.ts';
import type { ModelServer } from '../server.ts';
import type { Call } from '../session.ts';
import { integer } from './keys.ts';
import { parseSlot } from './slot-args.ts';

const keysOnly = ['key-count'] as const;
const metrics = ['key-count', 'cpu-usec', 'memory-bytes', 'network-bytes-in', 'network-bytes-out'] as const;
type Metric = (typeof metrics)[number];

function valueOf(server: ModelServer, slot: number, metric: Metric): number {
  if (metric === 'key-count') return server.countKeysInSlot(slot);
  if (metric === 'memory-bytes') return server.databases.reduce((sum, keys) => sum + keys.bytesInSlot(slot), 0);
  return metric === 'cpu-usec' ? (server.cpuBySlot.get(slot) ?? 0) : 0;
}

/** Without cluster-slot-stats-enabled a server counts keys only. */
function shownMetrics(server: ModelServer): readonly Metric[] {
  return server.settings.slotStats ? metrics : keysOnly;
}

const names: ReadonlyMap<Metric, Bulk> = new Map(metrics.map((metric) => [metric, bulk(metric)]));

function row(server: ModelServer, slot: number): RawReply {
  const stats: RawReply[] = [];
  for (const metric of shownMetrics(server)) stats.push(names.get(metric) ?? metric, valueOf(server, slot, metric));
  return [slot, stats];
}

function ownSlots(server: ModelServer): number[] {
  const mark = server.shardPrimary().mark;
  const slots: number[] = [];
  for (const [first, last] of server.slotsOf(mark).runs) for (let slot = first; slot <= last; slot++) slots.push(slot);
  return slots;
}

export function slotStats(call: Call): RawReply {
  const { server, args } = call;
  const action = args[2]?.toUpperCase();
  if (action === 'SLOTSRANGE' && args.length === 5) {
    const first = parseSlot(args[3]);
    const last = parseSlot(args[4]);
    if (first > last) throw err(`Start slot number ${first} is greater than end slot number ${last}`);
    return ownSlots(server)
      .filter((slot) => slot >= first && slot <= last)
      .map((slot) => row(server, slot));
  }
  if (action === 'ORDERBY' && args.length >= 4) return ordered(call);
  throw err('syntax error');
}

function ordered({ server, args }: Call): RawReply {
  const metric = shownMetrics(server).find((name) => name === args[3]?.toLowerCase());
  if (!metric) throw err('Unrecognized sort metric for ORDERBY.');
  let limit = Number.POSITIVE_INFINITY;
  let descending = true;
  for (let at = 4; at < args.length; at++) {
    const word = args[at]?.toUpperCase();
    if (word === 'LIMIT') limit = integer(args[++at]);
    else if (word === 'ASC' || word === 'DESC') descending = word === 'DESC';
    else throw err('syntax error');
  }
  const sign = descending ? -1 : 1;
  return ownSlots(server)
    .map((slot) => ({ slot, value: valueOf(server, slot, metric) }))
    .sort((a, b) => sign * (a.value - b.value) || a.slot - b.slot)
    .slice(0, limit)
    .map(({ slot }) => row(server, slot));
}
