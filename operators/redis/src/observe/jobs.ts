/** Atomic slot migrations that have not ended, of Valkey (GETSLOTMIGRATIONS) and of Redis (MIGRATION STATUS). */
import type { Reply } from '../api/port.ts';
import type { AtomicJob } from '../api/view.ts';
import { parseSpacedSlots } from './parse.ts';

const ENDED = new Set(['success', 'failed', 'cancelled', 'canceled', 'completed']);

/** A RESP2 map: names and values in turn. */
export function fieldsOf(reply: Reply | undefined): ReadonlyMap<string, Reply> {
  const fields = new Map<string, Reply>();
  if (!Array.isArray(reply)) return fields;
  const flat = reply as readonly Reply[];
  for (let index = 0; index + 1 < flat.length; index += 2) fields.set(String(flat[index]), flat[index + 1] as Reply);
  return fields;
}

function jobOf(reply: Reply): AtomicJob {
  const fields = fieldsOf(reply);
  const text = (...names: readonly string[]): string => {
    const name = names.find((candidate) => fields.has(candidate));
    return name === undefined ? '' : String(fields.get(name) ?? '');
  };
  return {
    name: text('name', 'id'),
    operation: text('operation').toLowerCase() === 'import' ? 'import' : 'export',
    slots: parseSpacedSlots(text('slot_ranges', 'slots')),
    sourceId: text('source_node', 'source'),
    targetId: text('target_node', 'dest'),
    state: text('state'),
    message: text('message', 'last_error'),
  };
}

/** All jobs that the server remembers, the newest first. */
export function jobsOf(reply: Reply | undefined): readonly AtomicJob[] {
  return Array.isArray(reply) ? (reply as readonly Reply[]).map(jobOf) : [];
}

export function hasEnded(job: AtomicJob): boolean {
  return ENDED.has(job.state.toLowerCase());
}

/** Replicas of the target mention the job of their primary, without saying from where to where. */
const MENTIONED = 'occurring-on-primary';

export function runningJobsOf(reply: Reply): readonly AtomicJob[] {
  return jobsOf(reply).filter((job) => !hasEnded(job) && job.state.toLowerCase() !== MENTIONED);
}
