/** CLUSTER MIGRATION IMPORT, STATUS and CANCEL (Redis 8.4 and later). */
import type { Ranges } from '../atomic-job.ts';
import { cancelTask, startImport } from '../pull.ts';
import type { Task } from '../pull-task.ts';
import { bulk, err, type RawReply } from '../reply.ts';
import type { Call } from '../session.ts';
import { parseSlot } from './slot-args.ts';

const wrongNumber = () => err("wrong number of arguments for 'cluster|migration' command");

function parseRanges(words: readonly string[]): Ranges {
  if (words.length === 0 || words.length % 2 === 1) throw wrongNumber();
  const ranges: [number, number][] = [];
  for (let at = 0; at < words.length; at += 2) {
    const first = parseSlot(words[at]);
    const last = parseSlot(words[at + 1]);
    if (first > last) throw err(`start slot number ${first} is greater than end slot number ${last}`);
    if (ranges.some(([from, to]) => first <= to && from <= last)) {
      throw err(`Slot ranges overlap: ${first}-${last}`);
    }
    ranges.push([first, last]);
  }
  return ranges.sort((a, b) => a[0] - b[0]);
}

function describe(task: Task): RawReply {
  const ended = task.operation === 'migrate' && task.state === 'completed';
  const fields: [string, RawReply][] = [
    ['id', bulk(task.id)],
    ['slots', bulk(task.ranges.map(([first, last]) => `${first}-${last}`).join(' '))],
    ['source', bulk(task.sourceId)],
    ['dest', bulk(task.destId)],
    ['operation', bulk(task.operation)],
    ['state', bulk(task.state)],
    ['last_error', bulk(task.error)],
    ['retries', task.retries],
    ['create_time', task.createdAt],
    ['start_time', task.startedAt],
    ['end_time', task.endedAt],
    ['write_pause_ms', ended ? task.endedAt - task.pausedAt : 0],
  ];
  return fields.flatMap(([name, value]): RawReply[] => [bulk(name), value]);
}

/** `ID x` → x, `ALL` → undefined. */
function whichTask(args: readonly string[]): string | undefined {
  const word = args[3]?.toUpperCase();
  if (word === 'ID' && args.length === 5) return args[4];
  if (word === 'ALL' && args.length === 4) return undefined;
  if (word === 'ID' || word === 'ALL') throw wrongNumber();
  throw err('unknown argument');
}

export function migration(call: Call): RawReply {
  const { server, args } = call;
  const action = args[2]?.toUpperCase();
  if (action === 'IMPORT') {
    const started = startImport(server, parseRanges(args.slice(3)), call.now);
    if (typeof started === 'string') throw err(started);
    return bulk(started.id);
  }
  if (action === 'CANCEL') return cancelTask(server, whichTask(args), call.now);
  if (action === 'STATUS') {
    const id = whichTask(args);
    const { current, archived } = server.pull;
    const all = current ? [current, ...archived] : archived;
    return all.filter((task) => id === undefined || task.id === id).map(describe);
  }
  throw err('unknown argument');
}
