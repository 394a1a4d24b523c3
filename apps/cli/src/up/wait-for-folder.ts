/**
 * Waiting for the control plane of a data folder to end: asked to, stopped by Ctrl-C a moment ago, or killed. Whoever holds the store is
 * the one; when it is ours, none begins. Then its nodes: their folders are free when its process has ended.
 */
import { asReeveError, type Clock, type ReeveError } from '@reeve/runtime';
import { cliError } from '../errors.ts';
import type { Holder } from './holder.ts';

export interface Waiting {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The folder, for people. */
  readonly path: string;
  /** What to type to try again. */
  readonly again: string;
  say(line: string): void;
}

interface Asking<T> extends Waiting {
  /** Undefined: somebody has it. */
  take(): Promise<T | undefined>;
  holder(): Promise<Holder | undefined>;
  /** Asks the control plane to end with its pods. True: it has heard. */
  ask(): Promise<boolean>;
}

export interface Taken<T> {
  readonly store: T;
  /** Who had it when we came. */
  readonly before: 'nobody' | 'plane' | 'other down';
  /** The control plane has ended its pods, or died over it. */
  readonly wasAsked: boolean;
}

const LOOK_AGAIN_MS = 250;
/** It is asked more than once: another one may have been started meanwhile. */
const ASK_AGAIN_MS = 5_000;
/** Most end before anybody would have read a line. */
const SILENT_MS = 1_000;
/** Who gives no sign for so long is not waited for any more. */
export const PATIENCE_MS = 30_000;

/** Takes the store as soon as it is free. As long as its holder gives signs of life he is waited for: pods have their own time to end. */
export async function waitForStore<T>(waiting: Asking<T>): Promise<Taken<T>> {
  const { clock, signal } = waiting;
  const say = eachOnce(waiting.say);
  let [signAt, askedAt] = [clock.now(), Number.NEGATIVE_INFINITY];
  let before: Taken<T>['before'] = 'nobody';
  let [isHeard, wasAsked] = [false, false];
  for (;;) {
    const store = await waiting.take();
    if (store) return { store, before, wasAsked };
    const holder = await waiting.holder();
    const isOtherDown = holder?.command === 'down';
    if (isOtherDown) {
      if (!wasAsked) before = 'other down';
      say(`Another \`reeve down\` (process ${holder.pid}) is ending the pods; waiting for it.`);
    } else {
      before = 'plane';
      if (!isHeard || clock.now() - askedAt >= ASK_AGAIN_MS) {
        askedAt = clock.now();
        isHeard = await waiting.ask();
      }
      if (isHeard) say('Asked the control plane to end its pods and itself; waiting.');
      wasAsked ||= isHeard;
    }
    if (isOtherDown || isHeard) signAt = clock.now();
    const silentMs = clock.now() - signAt;
    if (silentMs > PATIENCE_MS) throw silence(waiting, holder?.pid, 'has it in use and does not answer');
    if (silentMs >= SILENT_MS) {
      const who = holder ? `Process ${holder.pid}` : 'Somebody';
      say(
        `${who} has ${waiting.path} in use and does not answer; waiting for its end, up to ${PATIENCE_MS / 1_000} s.`,
      );
    }
    await clock.sleep(LOOK_AGAIN_MS, signal);
  }
}

/** Opens what belongs to one process at a time. Whoever has just given up the store may still be on his way out. */
export async function waitForNode<T>(waiting: Waiting, open: () => Promise<T>): Promise<T> {
  const { clock, signal } = waiting;
  const say = eachOnce(waiting.say);
  const began = clock.now();
  for (;;) {
    try {
      return await open();
    } catch (error) {
      const { code, subjects } = asReeveError(error);
      if (code !== 'NODE_FOLDER_IN_USE') throw error;
      const [, pid = ''] = subjects;
      const silentMs = clock.now() - began;
      if (silentMs > PATIENCE_MS) throw silence(waiting, Number(pid), 'has given up its store and does not end');
      if (silentMs >= SILENT_MS) {
        say(`Process ${pid} is on its way out; waiting for its end, up to ${PATIENCE_MS / 1_000} s.`);
      }
      await clock.sleep(LOOK_AGAIN_MS, signal);
    }
  }
}

function silence({ path, again }: Waiting, pid: number | undefined, does: string): ReeveError {
  if (pid === undefined) return cliError('PLANE_SILENT', `${path} is in use, and nobody answers`, [path]);
  const message = `process ${pid}, the control plane of ${path}, ${does}. To end it and the pods: kill -9 ${pid}; ${again}`;
  return cliError('PLANE_SILENT', message, [path, String(pid)]);
}

function eachOnce(say: (line: string) => void): (line: string) => void {
  const said = new Set<string>();
  return (line) => {
    if (said.has(line)) return;
    said.add(line);
    say(line);
  };
}
