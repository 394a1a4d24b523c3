/** What a manager gives to the controllers of a term. */
import type { Api } from '../client/api.ts';
import type { EventRecorder } from '../events/recorder.ts';
import type { Term } from '../lease/term.ts';
import type { RuntimeMetrics } from '../metrics/runtime-metrics.ts';
import type { Clock, Random } from '../ports/ports.ts';

/** One line: a message that is always the same, and what it is about. Never a secret. */
export type Log = (message: string, fields: Readonly<Record<string, unknown>>) => void;

export interface Environment {
  readonly clock: Clock;
  readonly random: Random;
  /** Its writes belong to the term. */
  readonly api: Api;
  readonly term: Term;
  readonly recorder: EventRecorder;
  readonly metrics: RuntimeMetrics;
  readonly log: Log;
}
