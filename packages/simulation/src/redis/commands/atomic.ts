/** CLUSTER MIGRATESLOTS, GETSLOTMIGRATIONS and CANCELSLOTMIGRATIONS (Valkey). */
import { cannotStart, eachSlot, end, includes, isExporting, startExport } from '../atomic.ts';
import { isEnded, type Job, type Ranges } from '../atomic-job.ts';
import type { Peer } from '../peer.ts';
import { bulk, err, OK, type RawReply } from '../reply.ts';
import type { ModelServer } from '../server.ts';
import type { Call } from '../session.ts';
import { parseSlot } from './slot-args.ts';

const syntaxError = () => err('syntax error');

interface Wanted {
  readonly ranges: Ranges;
  readonly target: Peer;
}

function overlap(a: readonly [number, number], b: readonly [number, number]): boolean {
  return a[0] <= b[1] && b[0] <= a[1];
}

/** Ranges from `at` on, until a word that is no number; all slots must belong to one node. */
function parseRanges(
  server: ModelServer,
  args: readonly string[],
  start: number,
): { ranges: Ranges; owner?: Peer; next: number } {
  const ranges: [number, number][] = [];
  let owner: Peer | undefined;
  let at = start;
  for (; at < args.length && /^-?\d+$/.test(args[at] ?? ''); at += 2) {
    const first = parseSlot(args[at]);
    if (args[at + 1] === undefined) throw err('No end slot for final slot range');
    const last = parseSlot(args[at + 1]);
    if (first > last) throw err(`Start slot number ${first} is greater than end slot number ${last}.`);
    eachSlot([[first, last]], (slot) => {
      const found = server.ownerOf(slot);
      if (!found) throw err(`Slot ${slot} has no node served.`);
      owner ??= found;
      if (owner !== found) throw err('Requested slots span multiple shards');
    });
    for (const before of ranges) {
      if (overlap(before, [first, last])) {
        throw err(`Slot range ${first}-${last} overlaps with previous range ${before[0]}-${before[1]}.`);
      }
    }
    ranges.push([first, last]);
  }
  if (ranges.length === 0) throw err('No slot ranges specified');
  return owner ? { ranges, owner, next: at } : { ranges, next: at };
}

function parseTarget(server: ModelServer, word: string | undefined): Peer {
  if (word?.length !== 40) throw err(`Invalid node name: ${word}`);
  const target = server.peers.get(word);
  if (!target) throw err(`Unknown node name: ${word}`);
  if (target === server.self) throw err('Target node can not be this node.');
  return target;
}

export function migrateSlots(call: Call): RawReply {
  const { server, args } = call;
  const cannot = cannotStart(server);
  if (cannot) throw err(cannot);
  const wanted: Wanted[] = [];
  for (let at = 2; at < args.length; ) {
    if (args[at]?.toUpperCase() !== 'SLOTSRANGE') throw syntaxError();
    const { ranges, owner, next } = parseRanges(server, args, at + 1);
    if (owner !== server.self) throw err('Slots are not served by this node.');
    for (const job of server.atomic.jobs) {
      if (job.operation !== 'EXPORT' || isEnded(job)) continue;
      eachSlot(ranges, (slot) => {
        if (includes(job.ranges, slot)) throw err(`I am already migrating slot ${slot}.`);
      });
    }
    if (wanted.some((before) => before.ranges.some((a) => ranges.some((b) => overlap(a, b))))) {
      throw err('Slot ranges in migrations overlap');
    }
    if (args[next]?.toUpperCase() !== 'NODE' || args[next + 1] === undefined) throw syntaxError();
    wanted.push({ ranges, target: parseTarget(server, args[next + 1]) });
    at = next + 2;
  }
  for (const { ranges, target } of wanted) startExport(server, target, ranges, call.now);
  return OK;
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}

function describe(job: Job): RawReply {
  const fields: [string, RawReply][] = [
    ['name', bulk(job.name)],
    ['operation', bulk(job.operation)],
    ['slot_ranges', bulk(job.ranges.map(([first, last]) => `${first}-${last}`).join(' '))],
    ['target_node', bulk(job.targetId)],
    ['source_node', bulk(job.sourceId)],
    ['create_time', seconds(job.createdAt)],
    ['last_update_time', seconds(job.updatedAt)],
    ['last_ack_time', seconds(job.lastContactAt)],
    ['state', bulk(job.state)],
    ['message', bulk(job.message)],
    ['cow_size', 0],
    ['remaining_repl_size', 0],
  ];
  return fields.flatMap(([name, value]): RawReply[] => [bulk(name), value]);
}

export function getSlotMigrations({ server }: Call): RawReply {
  return server.atomic.jobs.map(describe);
}

export function cancelSlotMigrations({ server, now }: Call): RawReply {
  if (!isExporting(server)) throw err('No migrations ongoing');
  for (const job of server.atomic.jobs) if (job.operation === 'EXPORT' && !isEnded(job)) end(job, 'cancelled', '', now);
  return OK;
}
