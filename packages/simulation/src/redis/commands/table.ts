/** What the dispatcher must know of a command before it runs. */
import type { RawReply } from '../reply.ts';
import type { Call } from '../session.ts';

export interface CommandSpec {
  readonly name: string;
  /** As COMMAND INFO tells it: the exact number of words, or the least number when negative. */
  readonly arity: number;
  readonly write?: boolean;
  /** Refused when the memory limit is reached. */
  readonly needsMemory?: boolean;
  /** Words that are keys. */
  readonly keys?: (args: readonly string[]) => readonly string[];
  /** RESTORE-ASKING behaves as if ASKING had been sent. */
  readonly asking?: boolean;
  readonly run: (call: Call) => RawReply;
}

export const firstKey = (args: readonly string[]): readonly string[] => args.slice(1, 2);
export const allKeys = (args: readonly string[]): readonly string[] => args.slice(1);
