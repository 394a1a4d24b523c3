/** One connection to one server: raw commands, no redirect followed. The rig's own, so that it can judge what the product's client does. */
import { createClient, ErrorReply, RESP_TYPES } from '@redis/client';

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

export type Reply = null | number | string | Buffer | Reply[];

/** How the rig gets in. */
export interface Access {
  readonly username?: string;
  readonly password?: string;
  readonly tls?: { readonly ca: string; readonly cert: string; readonly key: string };
}

export interface Connection {
  readonly endpoint: Endpoint;
  call(...args: (string | number | Buffer)[]): Promise<Reply>;
  /** Bulk strings as Buffers. */
  callBinary(...args: (string | number | Buffer)[]): Promise<Reply>;
  close(): void;
}

export interface ConnectOptions extends Access {
  readonly connectTimeoutMs?: number;
  /** Longest wait for one reply. */
  readonly timeoutMs?: number;
}

export async function connect(endpoint: Endpoint, options: ConnectOptions = {}): Promise<Connection> {
  const { connectTimeoutMs = 10_000, timeoutMs = 30_000 } = options;
  const common = {
    host: endpoint.host,
    port: endpoint.port,
    connectTimeout: connectTimeoutMs,
    reconnectStrategy: false,
    noDelay: true,
  } as const;
  const client = createClient({
    RESP: 2,
    socket: options.tls ? { ...common, tls: true, ...options.tls, checkServerIdentity: () => undefined } : common,
    ...(options.username === undefined ? {} : { username: options.username }),
    ...(options.password === undefined ? {} : { password: options.password }),
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
  });
  // Without a listener a broken connection would end the process; each pending call rejects by itself.
  client.on('error', () => client.isOpen);
  const close = () => {
    if (client.isOpen) client.destroy();
  };
  /** The client's own timeouts end when a command is written; a stopped server would keep us waiting for ever. */
  const within = async <T>(ms: number, what: string, work: Promise<T>): Promise<T> => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new Error(`no answer within ${ms} ms: ${what} to ${endpoint.host}:${endpoint.port}`));
        close();
      }, ms);
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      clearTimeout(timer);
    }
  };
  await within(connectTimeoutMs, 'connect', client.connect());
  const send = (args: (string | number | Buffer)[], typeMapping?: { [RESP_TYPES.BLOB_STRING]: typeof Buffer }) => {
    const texts = args.map((arg) => (typeof arg === 'number' ? String(arg) : arg));
    return within(
      timeoutMs,
      String(args[0]),
      client.sendCommand<Reply>(texts, typeMapping ? { typeMapping } : undefined),
    );
  };
  return {
    endpoint,
    call: (...args) => send(args),
    callBinary: (...args) => send(args, { [RESP_TYPES.BLOB_STRING]: Buffer }),
    close,
  };
}

/** The server answered, with an error; anything else is trouble with the connection. */
export function isErrorReply(error: unknown): boolean {
  return error instanceof ErrorReply;
}

/** One command on a connection of its own. */
export async function once(
  endpoint: Endpoint,
  access: ConnectOptions,
  ...args: (string | number | Buffer)[]
): Promise<Reply> {
  const connection = await connect(endpoint, access);
  try {
    return await connection.call(...args);
  } finally {
    connection.close();
  }
}
