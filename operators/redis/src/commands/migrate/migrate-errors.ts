/** What an error of MIGRATE means for the move, and how it is told. */
import { asReeveError, type ReeveError } from '@reeve/runtime';
import { RedisReplyError } from '../../api/port.ts';
import type { NodeRef } from '../../api/view.ts';
import { nameOf } from '../evidence.ts';
import { cannotGoOn } from './migration.ts';
import { isSilence, passes } from './retry.ts';

export type Cause =
  /** The target has a key of that name already. */
  | 'on-both-sides'
  /** The connection between the two, or between us and the source, broke: keys may be on both sides. */
  | 'broken-off'
  | 'passing'
  | 'target-full'
  | 'denied'
  /** The target is older than the source and cannot read what it is sent. */
  | 'unreadable'
  /** One of the two says that the slot is not, or no longer, in the state in which keys move. */
  | 'moved-on'
  | 'refused';

export function causeOf(error: unknown): Cause {
  if (isSilence(error)) return 'broken-off';
  if (asReeveError(error).code === 'REDIS_AUTH') return 'denied';
  if (!(error instanceof RedisReplyError)) return 'refused';
  const { message } = error;
  if (message.includes('BUSYKEY')) return 'on-both-sides';
  if (message.startsWith('IOERR')) return 'broken-off';
  if (message.includes('OOM ')) return 'target-full';
  if (/\b(?:NOAUTH|NOPERM|WRONGPASS)\b/.test(message)) return 'denied';
  if (/payload version or checksum/.test(message)) return 'unreadable';
  if (/\b(?:MOVED|ASK|READONLY)\b/.test(message)) return 'moved-on';
  return passes(error) ? 'passing' : 'refused';
}

/** The two servers between which keys move. */
export interface Ends {
  readonly source: NodeRef;
  readonly target: NodeRef;
}

export function explain(error: unknown, cause: Cause, { source, target }: Ends): ReeveError {
  const known = asReeveError(error);
  switch (cause) {
    case 'broken-off':
      if (isSilence(error)) return known; // it is the source that does not answer us
      return cannotGoOn(
        'MIGRATE_BROKEN_OFF',
        `${nameOf(source)} does not get keys across to ${nameOf(target)}: ${known.message}`,
      );
    case 'target-full':
      return cannotGoOn('TARGET_FULL', `${nameOf(target)} has no memory left for more keys: ${known.message}`);
    case 'denied':
      return cannotGoOn(
        'MIGRATE_DENIED',
        `not permitted between ${nameOf(source)} and ${nameOf(target)}: ${known.message}`,
      );
    case 'unreadable':
      return cannotGoOn(
        'MIGRATE_UNREADABLE',
        `${nameOf(target)} cannot read the keys that ${nameOf(source)} sends, usually because it is an older version: ${known.message}`,
      );
    case 'moved-on':
      return cannotGoOn('SLOT_REFUSED', `the state of the slot changed under the move: ${known.message}`);
    default:
      return known;
  }
}
