/** What went wrong, in the codes of the port: whether the server certainly did not act, or nobody knows. */
import { ConnectionTimeoutError, ErrorReply, SocketClosedUnexpectedlyError } from '@redis/client';
import { ReeveError } from '@reeve/runtime';
import { type Arg, RedisReplyError } from '../api/port.ts';

/** Commands whose second word says what is done. Other arguments never get into a message: they are keys, values, secrets. */
const CONTAINERS = new Set(['ACL', 'CLIENT', 'CLUSTER', 'COMMAND', 'CONFIG', 'DEBUG', 'FUNCTION', 'MEMORY', 'SCRIPT']);

export function commandName(args: readonly Arg[]): string {
  const first = String(args[0] ?? '').toUpperCase();
  return CONTAINERS.has(first) && args.length > 1 ? `${first} ${String(args[1]).toUpperCase()}` : first;
}

/** Takes the password out of a text, wherever a server or a library put it. */
export type Redact = (text: string) => string;

export function redactor(secret: string | undefined): Redact {
  return secret === undefined || secret === '' ? (text) => text : (text) => text.replaceAll(secret, '***');
}

/** We are not let in: no user, wrong password, or one where none is set. */
export function isRefusal(message: string): boolean {
  return /^(?:NOAUTH|WRONGPASS)\b|^ERR (?:AUTH|invalid password)/i.test(message);
}

export function replyError(message: string, name: string, endpointText: string): ReeveError {
  const subjects = [endpointText];
  if (isRefusal(message)) {
    return new ReeveError('REDIS_AUTH', `${endpointText} did not let us in: ${message}`, { subjects });
  }
  if (message.startsWith('NOPERM')) {
    return new ReeveError('REDIS_AUTH', `${endpointText} does not permit ${name}: ${message}`, { subjects });
  }
  return new RedisReplyError(message, endpointText);
}

export function isErrorReply(error: unknown): error is ErrorReply {
  return error instanceof ErrorReply;
}

function errorCode(error: unknown): string {
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' ? code : '';
}

/** OpenSSL's verification results and Node's TLS errors; node-redis passes them on as they are. */
function isTlsError(error: unknown): boolean {
  const code = errorCode(error);
  if (code === 'EPROTO' || code.startsWith('ERR_TLS_') || code.startsWith('ERR_SSL_') || code.startsWith('ERR_OSSL_')) {
    return true;
  }
  return /CERT|SELF_SIGNED|UNABLE_TO_|CRL_|HOSTNAME_MISMATCH/.test(code);
}

export function messageOf(error: unknown): string {
  // Node's AggregateError of a host with several addresses has an empty message and the causes in a list.
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0]);
  const message = error instanceof Error ? error.message : String(error);
  return message === '' ? errorCode(error) || 'no reason given' : message;
}

/** The connection did not come about: no call that waited for it was sent. */
export function connectError(error: unknown, usesTls: boolean, endpointText: string, redact: Redact): ReeveError {
  if (isErrorReply(error)) return replyError(redact(error.message), 'AUTH', endpointText);
  const subjects = [endpointText];
  const message = redact(messageOf(error));
  const hungUp = errorCode(error) === 'ECONNRESET' || error instanceof SocketClosedUnexpectedlyError;
  if (isTlsError(error)) {
    return new ReeveError('REDIS_TLS', `no TLS connection to ${endpointText}: ${message}`, { subjects });
  }
  if (usesTls && hungUp) {
    const hint = 'the server hung up during the handshake; it may want a client certificate';
    return new ReeveError('REDIS_TLS', `no TLS connection to ${endpointText}: ${message} (${hint})`, { subjects });
  }
  const hint = usesTls ? 'does it speak TLS?' : 'does it expect TLS?';
  const doubt = hungUp || error instanceof ConnectionTimeoutError ? ` (${hint})` : '';
  return new ReeveError('REDIS_UNREACHABLE', `no connection to ${endpointText}: ${message}${doubt}`, { subjects });
}

/** The connection broke while calls waited for their replies. */
export function lostError(error: unknown, endpointText: string, redact: Redact): ReeveError {
  return new ReeveError('REDIS_CONNECTION_LOST', `lost ${endpointText}: ${redact(messageOf(error))}`, {
    subjects: [endpointText],
  });
}

export function timeoutError(name: string, timeoutMs: number, endpointText: string): ReeveError {
  return new ReeveError('REDIS_TIMEOUT', `${endpointText} did not answer ${name} within ${timeoutMs} ms`, {
    subjects: [endpointText],
  });
}

export function notSentError(timeoutMs: number, endpointText: string): ReeveError {
  return new ReeveError('REDIS_UNREACHABLE', `no connection to ${endpointText} within ${timeoutMs} ms`, {
    subjects: [endpointText],
  });
}

/** Sent, and then we closed the connection ourselves. */
export function closedWhileWaitingError(endpointText: string): ReeveError {
  return new ReeveError('REDIS_CONNECTION_LOST', `this client was closed before ${endpointText} answered`, {
    subjects: [endpointText],
  });
}

export function closedError(endpointText: string): ReeveError {
  return new ReeveError('REDIS_UNREACHABLE', `not sent to ${endpointText}: this client was closed`, {
    subjects: [endpointText],
  });
}
