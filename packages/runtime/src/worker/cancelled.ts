import { ReeveError } from '../errors/errors.ts';

/**
 * - `superseded`: the object changed, what is being done is no longer asked for;
 * - `deleted`: the object is gone or going;
 * - `lost-lease`: another process leads now, nothing may be written any more;
 * - `shutdown`: this process ends;
 * - `timeout`: it took too long.
 */
export type CancelReason = 'superseded' | 'deleted' | 'lost-lease' | 'shutdown' | 'timeout';

/** The reason of a signal that a worker aborted. */
export class Cancelled extends ReeveError {
  readonly reason: CancelReason;

  constructor(reason: CancelReason, key: string) {
    super('CANCELLED', `work on ${key} was cancelled: ${reason}`, { subjects: [key] });
    this.name = 'Cancelled';
    this.reason = reason;
  }
}
