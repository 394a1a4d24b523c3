/**
 * The reflector as a pure function: what it knows, and what came, give what it knows now and what to do. Time and randomness
 * are arguments. Every disconnect that a server is able to produce is a row of this file, and of its test.
 */
import { backoffMs } from '../backoff/backoff.ts';
import { compareVersions, newest } from '../resource/version.ts';
import type { Failure } from './port.ts';
import type { Effect, Input, ReflectorOptions, ReflectorState } from './state.ts';

export interface Moment {
  readonly now: number;
  /** Uniform in [0, 1). */
  readonly random: number;
}

export interface Step {
  readonly state: ReflectorState;
  readonly effects: readonly Effect[];
}

export function step(state: ReflectorState, input: Input, moment: Moment, options: ReflectorOptions): Step {
  if (state.phase === 'stopped') return { state, effects: [] };
  switch (input.type) {
    case 'stop':
      return { state: { ...state, phase: 'stopped' }, effects: [{ do: 'end' }] };
    case 'start':
      return sync({ ...state, streams: options.streams }, moment, options);
    case 'due':
      return resume(state, moment, options);
    case 'event':
      return heard(state, input.version);
    case 'bookmark':
      return bookmark(state, input, moment, options);
    case 'page':
      return page(state, input, moment, options);
    case 'ended':
      return ended(state, moment, options);
    case 'silent':
      return silent(state, moment, options);
    case 'failed':
      return failed(state, input.failure, moment, options);
  }
}

const between = ([least, most]: readonly [number, number], random: number): number => least + (most - least) * random;

/** Begins a list: as a stream if the server can, else by pages. */
function sync(before: ReflectorState, moment: Moment, options: ReflectorOptions): Step {
  const rung = before.version === undefined ? 'quorum' : before.rung;
  const state: ReflectorState = {
    ...before,
    rung,
    token: undefined,
    lists: before.lists + 1,
    openedAt: moment.now,
    heard: 0,
  };
  if (!state.streams) {
    const listing: ReflectorState = { ...state, phase: 'listing' };
    return { state: listing, effects: [{ do: 'begin' }, listEffect(listing, options)] };
  }
  return {
    state: { ...state, phase: 'streaming' },
    effects: [
      { do: 'begin' },
      {
        do: 'watch',
        request: {
          resourceVersion: listVersion(state),
          resourceVersionMatch: 'NotOlderThan',
          sendInitialEvents: true,
          allowWatchBookmarks: true,
          timeoutSeconds: Math.round(between(options.watchMs, moment.random) / 1_000),
        },
        silenceMs: between(options.silenceMs, moment.random),
      },
    ],
  };
}

/** '' asks for the newest state. Never '0', which is whatever a server happens to have: time would go back. */
function listVersion(state: ReflectorState): string {
  return state.rung === 'last' ? (state.version ?? '') : '';
}

function listEffect(state: ReflectorState, options: ReflectorOptions): Effect {
  const resourceVersion = listVersion(state);
  const isWhole = state.expiredTokens > 1;
  return {
    do: 'list',
    request:
      state.token !== undefined
        ? { resourceVersion: '', limit: options.pageSize, continue: state.token }
        : {
            resourceVersion,
            ...(resourceVersion !== '' && { resourceVersionMatch: 'NotOlderThan' as const }),
            ...(!isWhole && { limit: options.pageSize }),
          },
    silenceMs: options.silenceMs[0],
  };
}

function watch(before: ReflectorState, moment: Moment, options: ReflectorOptions): Step {
  if (before.version === undefined) return sync(before, moment, options);
  return {
    state: { ...before, phase: 'watching', watches: before.watches + 1, openedAt: moment.now, heard: 0 },
    effects: [
      {
        do: 'watch',
        request: {
          resourceVersion: before.version,
          allowWatchBookmarks: true,
          timeoutSeconds: Math.round(between(options.watchMs, moment.random) / 1_000),
        },
        silenceMs: between(options.silenceMs, moment.random),
      },
    ],
  };
}

function resume(state: ReflectorState, moment: Moment, options: ReflectorOptions): Step {
  if (state.phase !== 'waiting') return { state, effects: [] };
  if (state.next === 'watch') return watch(state, moment, options);
  if (state.next === 'sync') return sync(state, moment, options);
  const listing: ReflectorState = { ...state, phase: 'listing' };
  return { state: listing, effects: [listEffect(listing, options)] };
}

function heard(state: ReflectorState, version: string | undefined): Step {
  const heardMore = { ...state, heard: state.heard + 1 };
  // The objects of an initial stream come in no order: none of their versions is a place to go on from.
  if (state.phase === 'streaming') return { state: heardMore, effects: [{ do: 'stage' }] };
  if (state.phase !== 'watching') return { state, effects: [] };
  return {
    state: version === undefined ? heardMore : { ...heardMore, version: newest(state.version, version) },
    effects: [{ do: 'apply' }],
  };
}

function bookmark(
  state: ReflectorState,
  input: { readonly version: string; readonly isInitialEnd: boolean },
  moment: Moment,
  options: ReflectorOptions,
): Step {
  const { version } = input;
  if (state.phase === 'watching') {
    return {
      state: { ...state, heard: state.heard + 1, version: newest(state.version, version) },
      effects: [{ do: 'bookmark', version }],
    };
  }
  if (state.phase !== 'streaming') return { state, effects: [] };
  const heardMore = { ...state, heard: state.heard + 1 };
  if (!input.isInitialEnd) return { state: heardMore, effects: [] };
  if (isBackInTime(state, version)) return sync({ ...state, rung: 'quorum' }, moment, options);
  // The same watch goes on with changes.
  return { state: synced({ ...heardMore, phase: 'watching' }, version, moment), effects: [{ do: 'commit', version }] };
}

/**
 * A server that lags behind answered: not older than ours was asked for, and what is older must not be believed. Only the newest
 * state there is may be older than what we have seen: then the server was restored from a backup.
 */
function isBackInTime(state: ReflectorState, version: string): boolean {
  return state.rung === 'last' && (compareVersions(version, state.version) ?? 0) < 0;
}

function synced(state: ReflectorState, version: string, { now }: Moment): ReflectorState {
  return { ...state, version, syncedAt: now, rung: 'last', token: undefined, expiredTokens: 0, isMissing: false };
}

function page(
  state: ReflectorState,
  input: { readonly version: string; readonly token: string | undefined },
  moment: Moment,
  options: ReflectorOptions,
): Step {
  if (state.phase !== 'listing') return { state, effects: [] };
  if (isBackInTime(state, input.version)) return sync({ ...state, rung: 'quorum' }, moment, options);
  if (input.token !== undefined) {
    const more: ReflectorState = { ...state, token: input.token };
    return { state: more, effects: [{ do: 'stage' }, listEffect(more, options)] };
  }
  const next = watch(synced(state, input.version, moment), moment, options);
  return { state: next.state, effects: [{ do: 'stage' }, { do: 'commit', version: input.version }, ...next.effects] };
}

/** The server ended the request in good order. */
function ended(state: ReflectorState, moment: Moment, options: ReflectorOptions): Step {
  if (state.phase !== 'watching' && state.phase !== 'streaming') return { state, effects: [] };
  const isShort = moment.now - state.openedAt < options.shortMs;
  if (state.phase === 'streaming') {
    return backOff({ ...state, shortWatches: state.shortWatches + (isShort ? 1 : 0) }, 'sync', moment, options);
  }
  if (!isShort) return watch(state, moment, options);
  // Also with events in it: a proxy that cuts every 50 ms must not be met with 20 requests a second.
  return backOff({ ...state, shortWatches: state.shortWatches + 1 }, 'watch', moment, options);
}

/** Nothing came for too long: the other end may have been gone for hours. */
function silent(before: ReflectorState, moment: Moment, options: ReflectorOptions): Step {
  const state = { ...before, silences: before.silences + 1 };
  if (state.phase === 'watching') return watch(state, moment, options);
  if (state.phase === 'listing') return backOff(state, 'page', moment, options);
  if (state.phase !== 'streaming') return { state: before, effects: [] };
  // A server that ignores the wish for initial events leaves a watch that never says that it was all.
  return sync({ ...state, streams: false }, moment, options);
}

function failed(state: ReflectorState, failure: Failure, moment: Moment, options: ReflectorOptions): Step {
  const { phase } = state;
  if (phase !== 'watching' && phase !== 'streaming' && phase !== 'listing') return { state, effects: [] };
  const { status } = failure;
  const here = phase === 'watching' ? 'watch' : phase === 'listing' ? 'page' : 'sync';
  if (status === 404) return missing(state, moment, options);
  if (status === 429) return backOff(state, here, moment, options, failure.retryAfterMs);
  if (status === 410 || failure.isTooLarge) return expired(state, moment, options);
  if (phase === 'streaming' && status !== undefined && [400, 405, 406, 415, 422, 501].includes(status)) {
    return sync({ ...state, streams: false }, moment, options);
  }
  return backOff(state, here, moment, options, failure.retryAfterMs);
}

/**
 * Our version is no longer there (410), or not yet (too large). First a list that is not older than what we have seen; if that
 * cannot be had either, the newest there is.
 */
function expired(state: ReflectorState, moment: Moment, options: ReflectorOptions): Step {
  if (state.phase === 'watching') {
    const last: ReflectorState = { ...state, rung: 'last' };
    // What a list gave a moment ago has expired already: listing without a pause would go on like that for ever.
    const isAtOnce = moment.now - state.syncedAt < options.shortMs;
    return isAtOnce ? backOff(last, 'sync', moment, options) : sync(last, moment, options);
  }
  if (state.phase === 'listing' && state.token !== undefined) {
    return sync({ ...state, rung: 'quorum', expiredTokens: state.expiredTokens + 1 }, moment, options);
  }
  if (state.rung === 'last') return sync({ ...state, rung: 'quorum' }, moment, options);
  return backOff(state, 'sync', moment, options); // the newest cannot be expired: a server in trouble
}

/**
 * Not installed, or not any more, or a server that has not read its CRDs yet. What is in the cache stays: unknown is not absent;
 * the list that succeeds one day tells what is gone.
 */
function missing(state: ReflectorState, moment: Moment, options: ReflectorOptions): Step {
  return {
    state: { ...state, phase: 'waiting', next: 'sync', isMissing: true, rung: 'quorum', failures: 0 },
    effects: [{ do: 'wait', ms: between(options.missingMs, moment.random) }],
  };
}

function backOff(
  state: ReflectorState,
  next: ReflectorState['next'],
  moment: Moment,
  options: ReflectorOptions,
  atLeastMs = 0,
): Step {
  const failures = moment.now - state.failedAt > options.resetMs ? 1 : state.failures + 1;
  const ms = Math.max(backoffMs(failures, options.backoff, moment.random), atLeastMs);
  return {
    // The wait itself is no time without failures.
    state: { ...state, phase: 'waiting', next, failures, failedAt: moment.now + ms },
    effects: [{ do: 'wait', ms }],
  };
}
