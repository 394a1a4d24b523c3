/** Programs on PATH, and which version they say they are. What was asked once is remembered until the file changes. */
import { type Clock, deadline } from '@reeve/runtime';
import type { Host } from '../host/host.ts';
import { programsNamed } from '../host/programs.ts';
import type { Asked, Tool } from './entry.ts';

export interface Installed {
  readonly path: string;
  /** Undefined: it does not run, or is another program of that name. */
  readonly version: string | undefined;
}

interface Answer extends Installed {
  readonly size: number;
  readonly changedAt: number;
}

/** A program that does not say its version by then is none that anybody can use. */
const PATIENCE_MS = 20_000;

/** One program may be asked several things. */
const keyOf = (path: string, { args }: Asked): string => [path, ...args].join(' ');

export class InstalledPrograms {
  readonly #host: Host;
  readonly #clock: Clock;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #answers = new Map<string, Answer>();

  constructor(host: Host, clock: Clock, environment: Readonly<Record<string, string>>) {
    this.#host = host;
    this.#clock = clock;
    this.#environment = environment;
  }

  /** Of several programs of that name the first counts: it is the one that would be run. */
  async has({ name, part }: Tool, signal: AbortSignal): Promise<boolean> {
    const [path] = await programsNamed(this.#host, part?.program ?? name);
    if (path === undefined || !part) return path !== undefined;
    const { version } = await this.#versionOf(path, part, signal);
    // A part that is not there may come without a change of the program: that is asked again.
    if (version === undefined) this.#answers.delete(keyOf(path, part));
    return version !== undefined;
  }

  /** All of that name, in the order of PATH. */
  async ask(asked: Asked, signal: AbortSignal): Promise<readonly Installed[]> {
    const found: Installed[] = [];
    for (const path of await programsNamed(this.#host, asked.program))
      found.push(await this.#versionOf(path, asked, signal));
    return found;
  }

  async #versionOf(path: string, asked: Asked, signal: AbortSignal): Promise<Installed> {
    const { args, version } = asked;
    const now = await this.#host.files.stat(path);
    const before = this.#answers.get(keyOf(path, asked));
    if (before && now && before.size === now.size && before.changedAt === now.changedAt) return before;
    const late = () => new Error(`${path} does not say its version`);
    using limit = deadline(this.#clock, PATIENCE_MS, late, signal);
    let said = '';
    try {
      const request = { argv: [path, ...args] as [string, ...string[]], env: this.#environment, folder: '/' };
      const { stdout, stderr } = await this.#host.processes.run({ ...request, signal: limit.signal });
      said = `${stdout}\n${stderr}`;
    } catch {
      signal.throwIfAborted(); // anything else means that it does not run here
    }
    const answer = { path, version: version.exec(said)?.[1], size: now?.size ?? 0, changedAt: now?.changedAt ?? 0 };
    this.#answers.set(keyOf(path, asked), answer);
    return answer;
  }
}
