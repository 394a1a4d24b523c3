/** Everything outside that the command line touches, as one value: tests pass their own. */
import type { ConnectOptions as ApiOptions, Connection as ApiConnection } from '@reeve/kube';
import type { ConnectOptions, RedisPort } from '@reeve/redis';
import type { Ports } from '@reeve/runtime';

export interface Io {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Bytes that are not ours, as they are. Done when there is room for more; aborts with the signal's reason. */
  readonly pass: (to: 'out' | 'err', bytes: Uint8Array, signal: AbortSignal) => Promise<void>;
  readonly outIsTerminal: boolean;
  readonly errIsTerminal: boolean;
  readonly inIsTerminal: boolean;
  readonly columns: () => number;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A line typed by the user, without echo when `secret`; undefined at the end of input. Aborts with the signal's reason. */
  readonly ask: (
    question: string,
    options: { readonly secret: boolean; readonly signal: AbortSignal },
  ) => Promise<string | undefined>;
  /** What is piped to us, piece by piece, as it comes. Aborts with the signal's reason, and then lets go of it. */
  readonly input: (signal: AbortSignal) => AsyncIterable<Uint8Array>;
  /** Calls back for every Ctrl-C (or SIGTERM) until the returned function is called. */
  readonly onInterrupt: (listener: () => void) => () => void;
  /** Ends the process at once. */
  readonly exitNow: (code: number) => void;
  /** Lets others on this machine go first, from now on. */
  readonly giveWay: () => void;
  /** An IP address for a host name; undefined when there is none. */
  readonly resolve: (host: string) => Promise<string | undefined>;
  readonly ports: Ports;
  readonly connect: (options: ConnectOptions) => RedisPort;
  /** One that nobody can guess. */
  readonly newPassword: () => string;
  /** To a Kubernetes API, as a kubeconfig says. */
  readonly connectApi: (options: ApiOptions) => Promise<ApiConnection>;
}
