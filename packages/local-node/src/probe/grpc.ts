/** Asking by gRPC whether a program is well: one call of `grpc.health.v1.Health/Check`, for which no library is needed. */
import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from 'node:http2';

export interface HealthRequest {
  readonly host: string;
  readonly port: number;
  readonly service: string;
}

export interface HealthAnswer {
  readonly isSuccess: boolean;
  readonly message: string;
}

const STATUSES = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];
const SERVING = 1;
const UNIMPLEMENTED = '12';
/** A flag and a length stand before every message. */
const HEAD_BYTES = 5;
const MOST_BYTES = 1_024;

/** Rejects if there is no answer. */
export async function askHealth({ host, port, service }: HealthRequest, signal: AbortSignal): Promise<HealthAnswer> {
  const session = connect(`http://${host}:${port}`);
  const stop = () => session.destroy(signal.reason as Error);
  signal.addEventListener('abort', stop, { once: true });
  try {
    return judge(await check(session, service));
  } finally {
    signal.removeEventListener('abort', stop);
    session.destroy();
  }
}

interface Reply {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

function check(session: ClientHttp2Session, service: string): Promise<Reply> {
  return new Promise((resolve, reject) => {
    session.on('error', reject);
    session.once('close', () => reject(new Error('the connection was closed')));
    const stream = session.request({
      ':method': 'POST',
      ':path': '/grpc.health.v1.Health/Check',
      'content-type': 'application/grpc',
      te: 'trailers',
      'user-agent': 'kube-probe/reeve',
    });
    let headers: IncomingHttpHeaders = {};
    const chunks: Buffer[] = [];
    let size = 0;
    const hear = (more: IncomingHttpHeaders): void => {
      headers = { ...headers, ...more };
    };
    stream.once('response', hear);
    stream.once('trailers', hear);
    stream.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MOST_BYTES) chunks.push(chunk);
    });
    stream.on('error', reject);
    stream.once('close', () => resolve({ headers, body: Buffer.concat(chunks) }));
    stream.end(framed(requestOf(service)));
  });
}

/** Field 1 is the name, its length before it: seven bits to a byte, the lowest first. */
function requestOf(service: string): Buffer {
  const name = Buffer.from(service);
  if (name.length === 0) return name;
  const head = [0x0a];
  let length = name.length;
  for (; length > 127; length >>= 7) head.push((length & 127) | 128);
  return Buffer.concat([Buffer.from([...head, length]), name]);
}

function framed(message: Buffer): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

function judge({ headers, body }: Reply): HealthAnswer {
  const code = String(headers['grpc-status'] ?? '');
  if (code === UNIMPLEMENTED) {
    const message = 'error: this server does not implement the grpc health protocol (grpc.health.v1.Health)';
    return { isSuccess: false, message };
  }
  if (code !== '0') {
    const why = headers['grpc-message'] ?? `status ${code === '' ? (headers[':status'] ?? 'none') : code}`;
    return { isSuccess: false, message: `error: health rpc probe failed: ${String(why)}` };
  }
  const status = statusOf(body.subarray(HEAD_BYTES));
  if (status === SERVING) return { isSuccess: true, message: 'service healthy' };
  const name = STATUSES[status] ?? String(status);
  return { isSuccess: false, message: `service unhealthy (responded with "${name}")` };
}

/** Field 1, a number; a message without it means 0. */
function statusOf(message: Buffer): number {
  return message[0] === 0x08 ? (message[1] ?? 0) : 0;
}
