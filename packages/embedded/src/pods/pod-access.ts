/** The port to whoever runs pods. The server checks who may and what is asked for; what comes back is passed on as it comes. */

/** A container of a pod that is bound to a node, as the server knows it. */
export interface PodContainer {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly node: string;
  readonly container: string;
}

export interface PodLogOptions {
  readonly follow: boolean;
  /** Of the run before. */
  readonly previous: boolean;
  /** Only so many lines from the end. */
  readonly tailLines: number | undefined;
}

/** What a command reads and writes. What is undefined nobody asked for. */
export interface ExecStreams {
  /** Ends when the client says so. */
  readonly stdin: AsyncIterable<Uint8Array> | undefined;
  /** Resolve when the client takes more. */
  readonly stdout: ((chunk: Uint8Array) => Promise<void>) | undefined;
  readonly stderr: ((chunk: Uint8Array) => Promise<void>) | undefined;
}

export interface PodAccess {
  /** Rejects if there is no such run. The signal ends what is read. */
  logs(at: PodContainer, options: PodLogOptions, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /** Its exit code. The signal ends the command. Rejects if it cannot be started. */
  exec(at: PodContainer, command: readonly string[], streams: ExecStreams, signal: AbortSignal): Promise<number>;
}
