/** A relay before a server that does what networks do: cuts connections, or goes silent without telling anybody. */
import { connect, createServer, type Socket } from 'node:net';

export interface Relay extends AsyncDisposable {
  readonly port: number;
  /** Connections through it that are open now. */
  readonly open: number;
  /** Connections made so far. */
  readonly made: number;
  /** Ends every connection that is open now, with a reset. */
  cut(): void;
  /** Ends every connection this long after it was made, those of now at once; 0: none comes through; undefined: all last. */
  cutAfter(ms: number | undefined): void;
  /** Connections that are open now stay so and carry nothing any more, in either direction. New ones work. */
  silence(): void;
  close(): Promise<void>;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  isSilent: boolean;
}

export async function startRelay(target: { readonly host?: string; readonly port: number }): Promise<Relay> {
  const { host = '127.0.0.1', port } = target;
  const pairs = new Set<Pair>();
  let made = 0;
  let limitMs: number | undefined;
  const end = ({ client, server }: Pair) => {
    client.resetAndDestroy();
    server.destroy();
  };
  const listener = createServer((client) => {
    made++;
    if (limitMs === 0) return void client.resetAndDestroy();
    const server = connect({ host, port });
    const pair: Pair = { client, server, isSilent: false };
    pairs.add(pair);
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.setNoDelay(true);
      one.on('error', () => one.destroy());
      one.pipe(other);
    }
    client.on('close', () => {
      server.destroy();
      pairs.delete(pair);
    });
    server.on('close', () => {
      // Of a silent connection the client does not even hear that it ended.
      if (!pair.isSilent) client.destroy();
    });
    if (limitMs !== undefined) {
      const timer = setTimeout(() => end(pair), limitMs);
      client.on('close', () => clearTimeout(timer));
    }
  });
  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject);
    listener.listen({ host: '127.0.0.1', port: 0 }, resolve);
  });
  const address = listener.address();
  if (address === null || typeof address === 'string') throw new Error('the relay has no port');
  const close = async () => {
    for (const pair of pairs) end(pair);
    await new Promise<void>((resolve) => listener.close(() => resolve()));
  };
  return {
    port: address.port,
    get open() {
      return pairs.size;
    },
    get made() {
      return made;
    },
    cut() {
      for (const pair of pairs) end(pair);
    },
    cutAfter(ms) {
      limitMs = ms;
      if (ms !== undefined) for (const pair of pairs) end(pair);
    },
    silence() {
      for (const pair of pairs) {
        pair.isSilent = true;
        pair.client.unpipe(pair.server).resume();
        pair.server.unpipe(pair.client).resume();
      }
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
