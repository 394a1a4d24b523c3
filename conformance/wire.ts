/** HTTP/1.1 over TLS as it is: no client of ours between a case and a server. */
import { Agent, request } from 'node:https';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Method } from './case.ts';

export interface WireOptions {
  readonly url: string;
  /** PEM. */
  readonly ca: string;
  /** How the administrator shows who he is: by a certificate, or by a token. */
  readonly cert?: string;
  readonly key?: string;
  readonly token?: string;
}

export interface Sent {
  readonly method: Method;
  /** With its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string;
  /** Instead of the administrator's credentials; empty: none. */
  readonly token?: string;
}

export interface Reply {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

const ANSWER_MS = 60_000;

/** The real server's answer while it still reads a new kind into its cache, sometimes after other requests of that kind were served: nothing was done, come again. */
const WARMING_UP = 'storage is (re)initializing';
const AGAIN_MS = 50;

export class Wire implements Disposable {
  readonly #options: WireOptions;
  readonly #administrator: Agent;
  readonly #others: Agent;

  constructor(options: WireOptions) {
    const { ca, cert, key } = options;
    this.#options = options;
    const kept = { keepAlive: true, maxSockets: 512, maxFreeSockets: 512, ca };
    this.#administrator = new Agent({ ...kept, ...(cert === undefined ? {} : { cert, key }) });
    this.#others = new Agent(kept);
  }

  async send(sent: Sent): Promise<Reply> {
    return warmed(async () => read(await this.#begin(sent)));
  }

  /** A watch, or the answer that came instead of one. */
  async open(sent: Sent): Promise<Watch | Reply> {
    return warmed(async () => {
      const response = await this.#begin(sent);
      return response.statusCode === 200 ? new Watch(response) : read(response);
    });
  }

  [Symbol.dispose](): void {
    this.#administrator.destroy();
    this.#others.destroy();
  }

  #begin(sent: Sent, isAgain = false): Promise<IncomingMessage> {
    const { method, path, headers = {}, body, token } = sent;
    const { url, token: administrators } = this.#options;
    const shown = token ?? administrators;
    const all = {
      accept: 'application/json',
      'user-agent': 'conformance/1',
      ...(shown === undefined || shown === '' ? {} : { authorization: `Bearer ${shown}` }),
      // Node leaves it out where a method has no body as a rule, and then the body is the next request.
      ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
      ...headers,
    };
    return new Promise((resolve, reject) => {
      const agent = token === undefined ? this.#administrator : this.#others;
      const call = request(`${url}${path}`, { method, agent, headers: all as Record<string, string | string[]> });
      call.setTimeout(ANSWER_MS, () => call.destroy(new Error(`${method} ${path}: silence for ${ANSWER_MS} ms`)));
      call.on('error', (error: NodeJS.ErrnoException) => {
        // The server closed a connection that was idle in the moment in which it was taken again: nothing was asked.
        if (call.reusedSocket && error.code === 'ECONNRESET' && !isAgain) resolve(this.#begin(sent, true));
        else reject(error);
      });
      call.on('response', resolve);
      call.end(body);
    });
  }
}

async function read(response: IncomingMessage): Promise<Reply> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return {
    code: response.statusCode ?? 0,
    headers: response.headers,
    text: Buffer.concat(chunks).toString('utf8'),
  };
}

/** Asks until the server has warmed up, or for as long as an answer may take. */
async function warmed<T extends Watch | Reply>(ask: () => Promise<T>): Promise<T> {
  for (const end = Date.now() + ANSWER_MS; ; ) {
    const answer = await ask();
    const isWarm = answer instanceof Watch || answer.code !== 429 || !answer.text.includes(WARMING_UP);
    if (isWarm || Date.now() > end) return answer;
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

/** The lines of a watch as they come. */
export class Watch implements Disposable {
  readonly events: unknown[] = [];
  readonly #response: IncomingMessage;
  #rest = '';
  #ended = false;
  #wake: (() => void) | undefined;

  constructor(response: IncomingMessage) {
    this.#response = response;
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => {
      const lines = (this.#rest + chunk).split('\n');
      this.#rest = lines.pop() ?? '';
      this.events.push(...lines.filter((line) => line !== '').map((line) => JSON.parse(line) as unknown));
      this.#wake?.();
    });
    const end = (): void => {
      if (!this.#ended && this.#rest !== '') this.events.push(JSON.parse(this.#rest));
      this.#ended = true;
      this.#wake?.();
    };
    response.on('end', end);
    response.on('error', end);
    response.on('close', end);
  }

  get headers(): IncomingHttpHeaders {
    return this.#response.headers;
  }

  get isEnded(): boolean {
    return this.#ended;
  }

  /** Whether it came to that before the stream ended and before the time was over. */
  async until(condition: (watch: Watch) => boolean, ms: number): Promise<boolean> {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.#wake?.();
    }, ms);
    try {
      for (;;) {
        if (condition(this)) return true;
        if (this.#ended || isLate) return false;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      clearTimeout(timer);
    }
  }

  [Symbol.dispose](): void {
    this.#response.destroy();
  }
}
