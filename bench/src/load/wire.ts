/** Requests over TLS on kept connections, as cheap as Node can send them: the load must not be what is measured. */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';

/** How a process reaches a server: given to it as one argument in JSON. */
export interface Access {
  readonly url: string;
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
  /** Where its etcd serves HTTP, for changes below the server. */
  readonly etcdUrl?: string;
}

export interface Sent {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
}

export class Wire {
  readonly #url: URL;
  readonly #tls: { readonly ca: Buffer; readonly cert: Buffer; readonly key: Buffer };
  #agent: Agent;

  constructor({ url, caFile, certFile, keyFile }: Access) {
    this.#url = new URL(url);
    this.#tls = { ca: readFileSync(caFile), cert: readFileSync(certFile), key: readFileSync(keyFile) };
    this.#agent = this.#newAgent(1);
  }

  /** From now on this many connections. */
  connections(most: number): void {
    this.#agent.destroy();
    this.#agent = this.#newAgent(most);
  }

  close(): void {
    this.#agent.destroy();
  }

  #newAgent(most: number): Agent {
    return new Agent({ keepAlive: true, maxSockets: most, ...this.#tls });
  }

  /** The length of the answer's body; it is not looked at. Rejects with what was wrong. */
  async send(sent: Sent): Promise<number> {
    return (await this.#exchange(sent, false)).bytes;
  }

  async read(path: string): Promise<string> {
    return (await this.#exchange({ method: 'GET', path }, true)).text;
  }

  #exchange({ method, path, body }: Sent, keeps: boolean): Promise<{ readonly bytes: number; readonly text: string }> {
    const headers = {
      accept: 'application/json',
      ...(body !== undefined && {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      }),
    };
    return new Promise((resolve, reject) => {
      const outgoing = request(new URL(path, this.#url), { method, agent: this.#agent, headers }, (incoming) => {
        const status = incoming.statusCode ?? 0;
        let bytes = 0;
        let text = '';
        incoming.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (keeps || status >= 300) text += chunk.toString();
        });
        incoming.on('error', reject);
        incoming.on('end', () => {
          if (status < 300) resolve({ bytes, text });
          else reject(new Error(`${method} ${path}: ${status} ${text.slice(0, 300)}`));
        });
      });
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }

  /** A watch on a connection of its own; told of each event as its bytes are complete. Resolves when the server has answered. */
  watch(path: string, onEvent: () => void): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const outgoing = request(new URL(path, this.#url), { agent: false, ...this.#tls }, (incoming) => {
        if (incoming.statusCode !== 200) return reject(new Error(`watch ${path}: ${incoming.statusCode}`));
        incoming.on('data', (chunk: Buffer) => {
          for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) onEvent();
        });
        incoming.on('error', () => undefined); // we end it
        resolve(() => outgoing.destroy());
      });
      outgoing.on('error', reject);
      outgoing.end();
    });
  }
}

/** `count` tasks, so many at a time. */
export async function many(count: number, atOnce: number, task: (number: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const one = async (): Promise<void> => {
    while (next < count) await task(next++);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, one));
}
