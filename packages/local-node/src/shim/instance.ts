/** One run of a container, from what lies in its folder and what the kernel says. Pure. */
import type { ProcessId } from '../host/host.ts';
import { parseStat } from '../host/process-table.ts';

/** Written before anything is started. */
export interface Intent {
  readonly attempt: number;
  readonly at: number;
  /** The start of the machine in which it was meant. Not in those of versions before. */
  readonly bootId?: string;
  /** How long it was held back after the run before it. */
  readonly delayMs: number;
  /** How processes are put into a sandbox: who asks for its main process must know. */
  readonly driver: string;
  /** What it was begun from: another one means another run. */
  readonly image: string;
  /** The program runs in a box that must be made first; it says when that is done. */
  readonly isBoxed: boolean;
  /** Where it begins, as it sees it: commands beside it begin there, too. Undefined: in its scratch folder. */
  readonly workingDir?: string | undefined;
}

/** Written before anybody is asked to end. */
export interface StopRecord {
  readonly at: number;
  readonly graceMs: number;
  readonly why: string;
}

/** Why a run ended that went with its node, and not by itself: the machine was put away, or the pod's folder is another one. */
export const PUT_AWAY = 'put-away';

export interface End {
  readonly code: number;
  readonly at: number;
  readonly reason?: string;
  readonly message?: string;
}

export interface Instance {
  readonly attempt: number;
  readonly delayMs: number;
  readonly driver: string;
  readonly image: string;
  readonly workingDir?: string | undefined;
  /** Of an earlier start of the machine, or of a folder that is gone: what it was begun in is not there any more. */
  readonly isPast?: true;
  /** `void`: it was meant to start and never will. */
  readonly state: 'starting' | 'running' | 'ended' | 'void';
  readonly main: ProcessId | undefined;
  readonly shim: ProcessId | undefined;
  readonly startedAt: number | undefined;
  readonly stop: StopRecord | undefined;
  readonly end: End | undefined;
}

/** Who runs, as the shim wrote it. */
export interface Identity {
  readonly main: ProcessId;
  readonly shim: ProcessId;
  readonly bootId: string;
  readonly at: number;
}

/** Undefined while it is not written to its end. */
export function parseIdentity(text: string, at: number): Identity | undefined {
  if (!text.endsWith('\n')) return undefined;
  const [first, second, bootId] = text.split('\n');
  const main = parseStat(first ?? '');
  const shim = parseStat(second ?? '');
  if (!main || !shim || bootId === undefined || bootId === '') return undefined;
  return { main: idOf(main), shim: idOf(shim), bootId, at };
}

function idOf({ pid, startTime }: ProcessId): ProcessId {
  return { pid, startTime };
}

export interface Evidence {
  readonly intent: Intent;
  readonly stop: StopRecord | undefined;
  readonly identity: Identity | undefined;
  readonly exit: { readonly code: number; readonly at: number } | undefined;
  /** This start of the machine. */
  readonly bootId: string;
  /** Looked at before `exit` was read: whoever ended in between has left its code. */
  readonly isMainAlive: boolean;
  readonly isShimAlive: boolean;
  /** The box is made, and the program runs in it. */
  readonly isUp: boolean;
  /** The node took the run for itself: no shim can have it any more. */
  readonly isGivenUp: boolean;
  /** Nobody with this run's cookie is left. Asked only where there is no identity. */
  readonly isDeserted: boolean;
  readonly now: number;
}

export const LOST_REASON = 'ContainerStatusUnknown';
const LOST_CODE = 137;

/** Of the shim itself, before there is a program. */
const REFUSED_CODE = 125;
const REFUSED_REASON = 'ContainerCannotRun';
const REFUSED = 'The container was not started: who it is could not be written down. Is the disk full?';

export function instanceOf(evidence: Evidence): Instance {
  const { intent, stop, identity, exit, now } = evidence;
  const { attempt, delayMs, driver, image, workingDir } = intent;
  const isPast = (identity?.bootId ?? intent.bootId ?? evidence.bootId) !== evidence.bootId;
  const known = {
    attempt,
    delayMs,
    driver,
    image,
    ...(workingDir !== undefined && { workingDir }),
    ...(isPast && { isPast }),
    stop,
    main: identity?.main,
    shim: identity?.shim,
    startedAt: identity?.at,
  };
  const lost = (message: string) =>
    lostRun({ ...known, startedAt: known.startedAt ?? intent.at, state: 'ended', end: undefined }, now, message);
  if (exit && exit.code === REFUSED_CODE && !identity) {
    const end = { ...exit, reason: REFUSED_REASON, message: REFUSED };
    return { ...known, state: 'ended', startedAt: intent.at, end };
  }
  if (exit) {
    const run: Instance = { ...known, state: 'ended', startedAt: known.startedAt ?? intent.at, end: exit };
    // Whoever ends in good order because he is asked to has not done what he was there for, whatever his code says.
    return stop?.why === PUT_AWAY
      ? lostRun(run, exit.at, 'The container was ended because its machine was put away.')
      : run;
  }
  if (evidence.isGivenUp) return { ...known, state: 'void', end: undefined };
  if (isPast) return lost('The machine was restarted while the container ran.');
  if (!identity) {
    if (evidence.isDeserted) return lost('The container was started, and nothing is left of it.');
    return { ...known, state: 'starting', end: undefined };
  }
  // While the shim is there, its code will come.
  if (evidence.isMainAlive || evidence.isShimAlive) {
    return { ...known, state: intent.isBoxed && !evidence.isUp ? 'starting' : 'running', end: undefined };
  }
  return lost('The container ended together with the process that waits for its exit code.');
}

/** A run that is over, and nobody knows how it ended. */
export function lostRun(run: Instance, now: number, message: string): Instance {
  return { ...run, state: 'ended', end: { code: LOST_CODE, at: now, reason: LOST_REASON, message } };
}
