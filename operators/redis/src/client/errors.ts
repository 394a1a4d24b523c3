/** What went wrong, in the codes of the port: whether the server certainly did not act, or nobody knows. */
import { ErrorReply } from '@redis/client';
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

/** An error reply, or whatever a reply's element of type error is. */
export function replyError(message: string, name: string, endpointText: string): ReeveError {
  const word = message.split(' ', 1)[0] ?? '';
  const unauthenticated = word === 'NOAUTH' || word === 'WRONGPASS' || /^ERR (?:AUTH|invalid password)/i.test(message);
  if (unauthenticated) {
    return new ReeveError('REDIS_AUTH', `${endpointText} did not let us in: ${message}`, { subjects: [endpointText] });
  }
  if (word === 'NOPERM') {
    return new ReeveError('REDIS_AUTH', `${endpointText} does not permit ${name}: ${message}`, {
      subjects: [endpointText],
    });
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
  const message = redact(messageOf(error));
  // A server that does not speak TLS closes the connection in the middle of the handshake.
  const hungUp = usesTls && errorCode(error) === 'ECONNRESET';
  const code = isTlsError(error) || hungUp ? 'REDIS_TLS' : 'REDIS_UNREACHABLE';
  const what = code === 'REDIS_TLS' ? 'no TLS connection' : 'no connection';
  return new ReeveError(code, `${what} to ${endpointText}: ${message}`, { subjects: [endpointText] });
}

/** The connection broke while calls waited for their replies. */
export function lostError(error: unknown, everReplied: boolean, endpointText: string, redact: Redact): ReeveError {
  const message = redact(messageOf(error));
  // With TLS 1.3 the server's refusal of our certificate arrives after our side of the handshake is done.
  if (isTlsError(error)) {
    return new ReeveError('REDIS_TLS', `no TLS connection to ${endpointText}: ${message}`, {
      subjects: [endpointText],
    });
  }
  const hint = everReplied ? '' : ' before it ever replied (does the server expect TLS?)';
  return new ReeveError('REDIS_CONNECTION_LOST', `${endpointText} closed the connection${hint}: ${message}`, {
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

export function closedError(endpointText: string): ReeveError {
  return new ReeveError('REDIS_UNREACHABLE', `not sent to ${endpointText}: this client was closed`, {
    subjects: [endpointText],
  });
}
