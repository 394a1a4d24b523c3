/** A real browser with one page, told what to do by its own protocol. */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium } from './binaries/chromium.ts';
import { findOnPath } from './binaries/program.ts';
import { temporaryFolder } from './servers/process.ts';
import { until } from './servers/until.ts';

/** What is not about the page: no screen, no other process, nothing that it does for itself on the network. */
const QUIET = [
  ...['--headless', '--no-sandbox', '--single-process', '--no-zygote', '--in-process-gpu', '--disable-dev-shm-usage'],
  ...['--use-gl=angle', '--use-angle=swiftshader', '--disable-quic', '--no-first-run', '--disable-sync'],
  ...['--disable-background-networking', '--disable-component-update', '--remote-debugging-port=0'],
];

export interface BrowserOptions {
  /** Certificates of nobody that it knows are taken. */
  readonly trustsAnybody?: boolean;
}

interface Evaluated {
  readonly result?: {
    readonly result?: { readonly value?: unknown };
    readonly exceptionDetails?: { readonly text?: string; readonly exception?: { readonly description?: string } };
  };
}

/** Opens a page and waits until it is loaded. */
export async function openPage(url: string, { trustsAnybody = false }: BrowserOptions = {}): Promise<Page> {
  const { command, env } = await chromium();
  const folder = temporaryFolder('browser');
  const more = [`--user-data-dir=${folder}`, ...(trustsAnybody ? ['--ignore-certificate-errors'] : [])];
  // It ends with us, however we end.
  const setpriv = findOnPath('setpriv');
  const line = [...(setpriv === undefined ? [] : [setpriv, '--pdeathsig', 'KILL']), command, ...QUIET, ...more];
  const child = spawn(line[0] as string, [...line.slice(1), 'about:blank'], {
    stdio: 'ignore',
    env: { ...process.env, ...env },
  });
  const gone = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const end = async () => {
    child.kill('SIGKILL');
    await gone;
  };
  try {
    const told = await until(
      'the browser says where it listens',
      async () => {
        const text = await readFile(join(folder, 'DevToolsActivePort'), 'utf8').catch(() => '');
        return /^\d+\n/.test(text) && text; // it may be half written
      },
      { timeoutMs: 60_000 },
    );
    const base = `http://127.0.0.1:${told.split('\n')[0]}`;
    const made = await fetch(`${base}/json/new?${encodeURI(url)}`, { method: 'PUT' });
    const { webSocketDebuggerUrl } = (await made.json()) as { readonly webSocketDebuggerUrl: string };
    const socket = new WebSocket(webSocketDebuggerUrl);
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve);
      socket.addEventListener('error', () => reject(new Error('the browser does not speak')));
    });
    const page = new Page(socket, end);
    await until('the page is there', () =>
      page.evaluate(`location.href !== 'about:blank' && document.readyState === 'complete'`),
    );
    return page;
  } catch (error) {
    await end();
    throw error;
  }
}

export class Page implements AsyncDisposable {
  readonly #socket: WebSocket;
  readonly #end: () => Promise<void>;
  #count = 0;

  constructor(socket: WebSocket, end: () => Promise<void>) {
    this.#socket = socket;
    this.#end = end;
  }

  /** What a script of the page comes to, promises waited for. Rejects with what it throws. */
  async evaluate<T>(script: string): Promise<T> {
    const id = ++this.#count;
    const params = { expression: script, awaitPromise: true, returnByValue: true };
    const answered = new Promise<Evaluated>((resolve, reject) => {
      this.#socket.addEventListener('close', () => reject(new Error('the browser ended')), { once: true });
      const listen = ({ data }: MessageEvent) => {
        const message = JSON.parse(String(data)) as Evaluated & { readonly id?: number };
        if (message.id !== id) return;
        this.#socket.removeEventListener('message', listen);
        resolve(message);
      };
      this.#socket.addEventListener('message', listen);
    });
    this.#socket.send(JSON.stringify({ id, method: 'Runtime.evaluate', params }));
    const { result } = await answered;
    const thrown = result?.exceptionDetails;
    if (thrown) throw new Error(thrown.exception?.description ?? thrown.text);
    return result?.result?.value as T;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.close();
    await this.#end();
  }
}
