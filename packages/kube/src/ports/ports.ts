/**
 * What the client needs from outside. The first three have the shape of the runtime's ports, so that the runtime and the
 * simulation pass theirs; the client cannot import them (docs/designs/0004-kube-client.md).
 */
export interface Clock {
  /** Milliseconds since the epoch; never goes back. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason if it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
}

export interface FileReader {
  /** The text of a file, or undefined if there is none. */
  read(path: string): Promise<string | undefined>;
}

export interface SpawnRequest {
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether the program may ask the user at the terminal. */
  readonly interactive: boolean;
}

export interface SpawnResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end. Rejects when it cannot be started. */
export type Spawn = (request: SpawnRequest) => Promise<SpawnResult>;

export interface KubePorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly files: FileReader;
  readonly spawn: Spawn;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** Whether a user sits at a terminal, whom a credential plugin may ask. */
  readonly interactive: boolean;
}
