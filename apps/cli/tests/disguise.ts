/** A server that says something else of itself: a proxy in front of it that replaces a text in its replies. */
import { connect, createServer, type Socket } from 'node:net';
import type { Endpoint, Server } from '@reeve/rig';

export interface Disguise {
  readonly endpoint: Endpoint;
  readonly address: string;
  /** How often the text was replaced. */
  readonly replaced: number;
  close(): void;
}

/** The longest end of `data` that may be the beginning of `text`: the rest of it may come with the next chunk. */
function begun(data: string, text: string): number {
  for (let length = Math.min(text.length - 1, data.length); length > 0; length--) {
    if (data.endsWith(text.slice(0, length))) return length;
  }
  return 0;
}

export async function disguised(server: Server, text: string, instead: string): Promise<Disguise> {
  // Replies tell their length in bytes beforehand.
  if (text.length !== instead.length) throw new Error(`'${text}' and '${instead}' differ in length`);
  const sockets = new Set<Socket>();
  let replaced = 0;
  const proxy = createServer((client) => {
    const upstream = connect(server.endpoint);
    for (const [socket, peer] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => peer.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        peer.destroy();
      });
    }
    client.pipe(upstream);
    let held = '';
    // latin1 keeps every byte as it is.
    upstream.setEncoding('latin1').on('data', (chunk: string) => {
      const parts = (held + chunk).split(text);
      replaced += parts.length - 1;
      const data = parts.join(instead);
      const keep = begun(data, text);
      held = data.slice(data.length - keep);
      client.write(data.slice(0, data.length - keep), 'latin1');
    });
  });
  const { host } = server.endpoint;
  await new Promise<void>((resolve, reject) => {
    proxy.once('error', reject);
    proxy.listen({ host, port: 0 }, resolve);
  });
  const at = proxy.address();
  if (at === null || typeof at === 'string') throw new Error('the proxy has no port');
  return {
    endpoint: { host, port: at.port },
    address: `${host}:${at.port}`,
    get replaced() {
      return replaced;
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
    },
  };
}
