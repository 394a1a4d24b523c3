/** The operator's port over the model of a cluster: what a simulation and the unit tests talk to. */
import { ReeveError } from '@reeve/runtime';
import {
  ConnectionLostError,
  type ModelReply,
  NoAnswerError,
  type RedisClusterModel,
  ServerError,
  type Session,
  UnreachableError,
} from '@reeve/simulation/redis';
import { type Arg, type CallOptions, readsBy, RedisReplyError, type RedisPort, type Reply } from '../src/api/port.ts';
import { type Endpoint, formatEndpoint } from '../src/api/view.ts';

/**
 * One call as a simulation schedules it: the fields of an effect. `apply` is the one moment at which the server acts;
 * what it throws is what the caller must see. `failure` makes the error for a fault that was put in its way.
 */
export interface ScheduledCall<T> {
  /** Few different ones: `CLUSTER SETSLOT`, `MIGRATE`, `transaction`. */
  readonly label: string;
  /** The address and the words, in short. */
  readonly detail: string;
  /** Calls of one channel are done in the order in which they were made: one connection. */
  readonly channel: string;
  readonly timeoutMs: number;
  apply(): T;
  /** False while the server keeps the call waiting: its process is stopped, or writes are paused for a hand-over. */
  canAnswer(): boolean;
  failure(kind: 'fail-before' | 'fail-after' | 'timeout'): unknown;
}

export type Schedule = <T>(call: ScheduledCall<T>) => Promise<T>;

const DEFAULT_TIMEOUT_MS = 5000;
const DETAIL_LENGTH = 120;
/** Commands whose second word says what they do. */
const containers = new Set(['CLUSTER', 'CONFIG', 'COMMAND', 'FUNCTION', 'MEMORY']);

function wordsOf(args: readonly Arg[]): string[] {
  return args.map((arg) => (typeof arg === 'string' ? arg : arg.toString('latin1')));
}

function labelOf(args: readonly Arg[]): string {
  const [name = '', second = ''] = wordsOf(args.slice(0, 2));
  const upper = name.toUpperCase();
  return containers.has(upper) ? `${upper} ${second.toUpperCase()}` : upper;
}

/** At once, in the order of the calls: for tests that have no scheduler. */
export const immediately: Schedule = async (call) => call.apply();

function portError(error: unknown, endpointText: string): unknown {
  if (error instanceof ServerError) return new RedisReplyError(error.message, endpointText);
  if (error instanceof UnreachableError) {
    return new ReeveError('REDIS_UNREACHABLE', error.message, { subjects: [endpointText] });
  }
  if (error instanceof ConnectionLostError) {
    return new ReeveError('REDIS_CONNECTION_LOST', error.message, { subjects: [endpointText] });
  }
  if (error instanceof NoAnswerError)
    return new ReeveError('REDIS_TIMEOUT', error.message, { subjects: [endpointText] });
  return error;
}

function faultError(kind: 'fail-before' | 'fail-after' | 'timeout', endpointText: string): ReeveError {
  const subjects = [endpointText];
  if (kind === 'fail-before') return new ReeveError('REDIS_UNREACHABLE', `no way to ${endpointText}`, { subjects });
  if (kind === 'timeout') return new ReeveError('REDIS_TIMEOUT', `no answer from ${endpointText}`, { subjects });
  return new ReeveError('REDIS_CONNECTION_LOST', `the connection to ${endpointText} broke`, { subjects });
}

/** A port of one client process: its connections (one for each server and lane) live as long as it does. */
export function modelPort(model: RedisClusterModel, schedule: Schedule = immediately): RedisPort {
  const sessions = new Map<string, Session>();

  function sessionOf(channel: string): Session {
    const session = sessions.get(channel) ?? model.connect();
    sessions.set(channel, session);
    return session;
  }

  function send<T>(
    endpoint: Endpoint,
    label: string,
    detail: string,
    commands: readonly (readonly Arg[])[],
    options: CallOptions,
    run: (session: Session) => T,
  ): Promise<T> {
    const text = formatEndpoint(endpoint);
    const channel = `${text} ${options.lane ?? 'control'}`;
    return schedule<T>({
      label,
      detail: `${text} ${detail}`.slice(0, DETAIL_LENGTH),
      channel,
      timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      apply() {
        try {
          return run(sessionOf(channel));
        } catch (error) {
          throw portError(error, text);
        }
      },
      canAnswer: () => !model.wouldWait(endpoint, ...commands),
      failure(kind) {
        sessions.delete(channel); // the next call is made on a new connection
        return faultError(kind, text);
      },
    });
  }

  function call(endpoint: Endpoint, args: readonly Arg[], options: CallOptions = {}): Promise<Reply> {
    const binary = options.binary ?? false;
    const run = (session: Session) => model.execute(endpoint, args, { binary, session });
    return send<ModelReply>(endpoint, labelOf(args), wordsOf(args).join(' '), [args], options, run);
  }

  return {
    call,
    reads: readsBy(call),
    transaction(endpoint, commands, options = {}): Promise<readonly Reply[]> {
      const binary = options.binary ?? false;
      const detail = commands.map((args) => wordsOf(args).join(' ')).join('; ');
      const run = (session: Session) => model.transaction(endpoint, commands, { binary, session });
      return send<readonly ModelReply[]>(endpoint, 'transaction', detail, commands, options, run);
    },
    migrateAuth: () => [],
    close: async () => undefined,
  };
}
