/** How a container is kept apart from the machine: by namespaces of its own, made by one tool or another, or not at all. */
import type { ProcessId, ProcessRow } from '../host/host.ts';

export type DriverName = 'bwrap' | 'unshare' | 'plain';

export interface Mount {
  /** On this machine. */
  readonly source: string;
  /** Where the container sees it. */
  readonly target: string;
  readonly isReadOnly: boolean;
  readonly isFile: boolean;
}

/** What a container is to see. */
export interface Box {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly mounts: readonly Mount[];
  /** Undefined: where the shim was started. */
  readonly workingDir: string | undefined;
  /** Empty folder of this container's own, for the driver. */
  readonly folder: string;
}

export interface Boxed {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** The pod cannot run with this driver. */
export class SandboxProblem extends Error {
  readonly reason = 'SandboxUnavailable';
}

/** How a program is found and joined whose box was made before. Whether new ones can be made does not matter to it. */
export interface Entrance {
  /** Whether mounts appear where the pod wants them. */
  readonly hasMounts: boolean;
  /** The program itself, from the process that the shim started. Undefined: it is not there yet, or no more. */
  mainOf(started: ProcessId, table: readonly ProcessRow[]): ProcessRow | undefined;
  /** The command line that runs a command beside the program, seeing what it sees. `mounts` only if they appear nowhere. */
  enter(main: ProcessId, command: readonly string[], mounts: readonly Mount[]): readonly string[];
}

export interface Driver extends Entrance {
  readonly name: DriverName;
  /** The command line that runs it. One that makes a box says when it is made (`SAY_UP`), just before the program begins. */
  wrap(box: Box): Promise<Boxed>;
}
