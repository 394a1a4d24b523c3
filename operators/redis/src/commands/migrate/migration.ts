/** One running `migrate-slots`: what its engines share. */
import { type Progress, ReeveError } from '@reeve/runtime';
import type { MigrateSlots } from '../../api/commands.ts';
import { formatSlots, rangesOf, type SlotRanges } from '../../api/slots.ts';
import type { Endpoint } from '../../api/view.ts';
import type { RedisContext } from '../context.ts';
import type { Standing } from './standing.ts';

export interface Migration {
  readonly command: MigrateSlots;
  readonly context: RedisContext;
  /** Aborted: begin nothing new, leave nothing half done that can be finished or taken back. */
  readonly signal: AbortSignal;
  readonly tally: Tally;
  /** What the source owned when it was surveyed. */
  readonly sourceSlots: SlotRanges;
  /** Where the source reaches the target: what nodes announce to each other, which need not be where we reach it. */
  readonly targetSeenBySource: Endpoint;
  /** The shorter cluster-node-timeout of the two: a server that is blocked longer than this is failed over. */
  readonly nodeTimeoutMs: number;
  /** Asked before slots change hands. */
  readonly standing: Standing;
  /** How many connections share the SETSLOTs: one keeps them in one write, several let them wait for replicas together. */
  readonly setslotLanes: number;
}

/** A slot that stays where it is although everything else goes on. */
export interface SlotTrouble {
  readonly slot: number;
  readonly code: string;
  readonly message: string;
}

/** How far a migration is, for progress lines and for its outcome. */
export class Tally {
  readonly total: number;
  slots = 0;
  keys = 0;
  bytes = 0;
  note = '';
  readonly troubles: SlotTrouble[] = [];
  /** What is worth telling at the end: an engine that gave up, a job that was adopted. */
  readonly remarks: string[] = [];

  constructor(total: number) {
    this.total = total;
  }

  progress(): Progress {
    const amount = this.keys > 0 ? `${this.keys} keys` : '';
    const size = this.bytes > 0 ? `about ${formatBytes(this.bytes)}` : '';
    const note = [amount, size, this.note].filter((part) => part !== '').join(', ');
    return { done: this.slots, total: this.total, unit: 'slots', ...(note === '' ? {} : { note }) };
  }

  /** One text for all slots that stayed; undefined when there is none. */
  trouble(): { readonly code: string; readonly message: string } | undefined {
    const [first] = this.troubles;
    if (!first) return undefined;
    const slots = formatSlots(rangesOf(this.troubles.map(({ slot }) => slot)));
    const more = this.troubles.length > 1 ? ` (${this.troubles.length} slots in all: ${slots})` : '';
    return { code: first.code, message: `slot ${first.slot}: ${first.message}${more}` };
  }
}

export function formatBytes(bytes: number): string {
  if (bytes >= 1e9) return `${(bytes / 1e9).toFixed(1)} GB`;
  if (bytes >= 1e6) return `${(bytes / 1e6).toFixed(1)} MB`;
  return `${Math.ceil(bytes / 1e3)} KB`;
}

/** The migration cannot go on; slots may be open, which the next run of the command finds and finishes. */
export function cannotGoOn(code: string, message: string): ReeveError {
  return new ReeveError(code, message);
}
