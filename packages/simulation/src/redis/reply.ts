/** Arguments, replies and errors of the model: the RESP2 shapes that a real server answers with. */
export type ModelArg = string | Buffer;

/** A bulk string keeps its bytes (latin1) apart from status lines, so that a caller can ask for text or Buffers. */
export class Bulk {
  readonly bytes: string;
  constructor(bytes: string) {
    this.bytes = bytes;
  }
}

/** Inside the model. Status lines (`OK`) are plain strings. */
export type RawReply = null | number | string | Bulk | ServerError | readonly RawReply[];

/** As a client sees it. */
export type ModelReply = null | number | string | Buffer | readonly ModelReply[];

/** An error reply: `message` is the whole line, first word included, as the real server writes it. */
export class ServerError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ServerError';
  }
}

/** Nobody listens at the address (or the network is cut): the command was certainly not executed. */
export class UnreachableError extends Error {
  constructor(endpoint: string) {
    super(`no server answers at ${endpoint}`);
    this.name = 'UnreachableError';
  }
}

/** The server took the connection and does not answer (stopped, hanging): whether it happens later is unknown. */
export class NoAnswerError extends Error {
  constructor(endpoint: string) {
    super(`the server at ${endpoint} does not answer`);
    this.name = 'NoAnswerError';
  }
}

/** The server's own bug: its process ends while executing. */
export class ServerCrash extends Error {
  constructor() {
    super('the server crashed');
    this.name = 'ServerCrash';
  }
}

/** The connection broke after the command was sent: whether it happened is unknown. */
export class ConnectionLostError extends Error {
  constructor(endpoint: string) {
    super(`the connection to ${endpoint} broke`);
    this.name = 'ConnectionLostError';
  }
}

export const OK = 'OK';

export function err(message: string): ServerError {
  return new ServerError(`ERR ${message}`);
}

/** Most texts: their bytes are their characters. */
const BEYOND_ASCII = /\P{ASCII}/u;

export function bulk(text: string): Bulk {
  return new Bulk(BEYOND_ASCII.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text);
}

/** The bytes of an argument, one character each. */
export function bytesOf(arg: ModelArg): string {
  if (typeof arg !== 'string') return arg.toString('latin1');
  for (let at = 0; at < arg.length; at++) {
    if (arg.charCodeAt(at) > 127) return Buffer.from(arg, 'utf8').toString('latin1');
  }
  return arg;
}

export function toReply(raw: RawReply, binary: boolean): ModelReply {
  if (raw instanceof Bulk) {
    if (!binary && !BEYOND_ASCII.test(raw.bytes)) return raw.bytes;
    const bytes = Buffer.from(raw.bytes, 'latin1');
    return binary ? bytes : bytes.toString('utf8');
  }
  if (raw instanceof ServerError) throw raw;
  if (Array.isArray(raw)) return (raw as readonly RawReply[]).map((item) => toReply(item, binary));
  return raw as null | number | string;
}
