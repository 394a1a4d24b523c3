/** A command is plain data: what to do, and the evidence it rests on. It survives JSON. */
export interface Command {
  readonly type: string;
  /** One line for people: what and why. */
  readonly why: string;
}

/** A command that was started and has not ended, as a plan sees it. */
export interface InFlight<C extends Command = Command> {
  readonly command: C;
  readonly startedAt: number;
  readonly progress?: Progress;
}

export interface Progress {
  readonly done: number;
  readonly total: number;
  readonly unit: string;
  readonly note?: string;
}

/**
 * How a command ended: nothing of it goes on any more. Who cannot know that (the answer to a start was lost) stops it first.
 * - `done`: its effect is in the world (also when it was there before);
 * - `stale`: the evidence no longer holds, nothing was changed: observe and plan again;
 * - `failed`: it tried; the world may be changed in part, which the next observation shows.
 */
export type Outcome =
  | { readonly status: 'done'; readonly note?: string }
  | { readonly status: 'stale'; readonly message: string }
  | { readonly status: 'failed'; readonly code: string; readonly message: string };

/**
 * What a handler may answer: an outcome, and with `done` the commands that follow from what it found. Normally the next plan
 * decides what follows; follow-ups are for what belongs together and is not worth a look in between.
 */
export type HandlerOutcome =
  | Outcome
  | (Extract<Outcome, { status: 'done' }> & { readonly followUp: readonly Command[] });

/** Long work: start → handle → poll. `settled` never rejects. */
export interface Handle<O = Outcome> {
  progress(): Progress | undefined;
  readonly settled: Promise<O>;
}

/** Whether the effect of a command is in the world, read live. What could not be read is `unknown`, not `not-done`. */
export type DoneCheck = 'done' | 'not-done' | 'unknown';

/** The name of one run of a command. Started again under the same name it is found, not repeated, where that can be known. */
export interface Run {
  readonly id: string;
  /** Counts from 1. Only a plan starts another attempt. */
  readonly attempt: number;
}

export const done: Outcome = { status: 'done' };

export function doneThen(...followUp: readonly Command[]): HandlerOutcome {
  return { status: 'done', followUp };
}

export function stale(message: string): Outcome {
  return { status: 'stale', message };
}

export function failed(code: string, message: string): Outcome {
  return { status: 'failed', code, message };
}
