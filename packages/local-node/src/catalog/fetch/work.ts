/** What a fetch works with: an empty folder of its own, and the tools of this machine as their user has set them up. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Host } from '../../host/host.ts';

/** Why a program could not be fetched, for the person who waits for it. */
export class FetchProblem extends Error {}

const CHUNK = 1 << 20;
/** As much of a tool's complaint as is passed on. */
const MOST_SAID = 1_000;

export interface WorkOptions {
  readonly host: Host;
  /** Exists and is empty. Whatever is in it at the end is what is kept. */
  readonly folder: string;
  /** The user's own: tools find their settings, proxies and mirrors by it. */
  readonly environment: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

export class FetchWork {
  readonly folder: string;
  readonly #options: WorkOptions;

  constructor(options: WorkOptions) {
    this.#options = options;
    this.folder = options.folder;
  }

  get files(): Host['files'] {
    return this.#options.host.files;
  }

  path(...parts: readonly string[]): string {
    return join(this.folder, ...parts);
  }

  /** What the tool printed. Rejects with the end of its complaint if it failed. */
  async run(argv: readonly [string, ...string[]], env: Readonly<Record<string, string>> = {}): Promise<string> {
    const { host, environment, signal } = this.#options;
    const scratch = this.path('tmp');
    await this.files.makeFolder(scratch);
    const whole = { ...environment, LC_ALL: 'C', TMPDIR: scratch, ...env };
    try {
      const { code, stdout, stderr } = await host.processes.run({ argv, env: whole, folder: this.folder, signal });
      if (code === 0) return stdout;
      throw new FetchProblem(`${argv[0]} ended with ${code}: ${complaintOf(`${stdout}\n${stderr}`)}`);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof FetchProblem) throw error;
      throw new FetchProblem(`${argv[0]} cannot be run: ${(error as Error).message}`);
    }
  }

  /** The same; undefined if the tool failed or cannot be run. */
  async tried(...given: Parameters<FetchWork['run']>): Promise<string | undefined> {
    return this.run(...given).catch((error: unknown) => {
      if (error instanceof FetchProblem) return undefined;
      throw error;
    });
  }

  /** Names of files in the folder that end so. */
  async named(end: string): Promise<readonly string[]> {
    const entries = (await this.files.list(this.folder)) ?? [];
    return entries
      .filter(({ name, kind }) => kind === 'file' && name.endsWith(end))
      .map(({ name }) => name)
      .sort();
  }

  async sha256(name: string): Promise<string> {
    const hash = createHash('sha256');
    for (let at = 0; ; ) {
      const bytes = await this.files.readFrom(this.path(name), at, CHUNK);
      if (!bytes) throw new FetchProblem(`${name} is not where it was put`);
      if (bytes.length === 0) return hash.digest('hex');
      hash.update(bytes);
      at += bytes.length;
      this.#options.signal.throwIfAborted();
    }
  }

  /** The one file that was downloaded, if it is the one that is meant. */
  async onlyFile(end: string, expected: string): Promise<string> {
    const [name, ...more] = await this.named(end);
    if (name === undefined || more.length > 0) throw new FetchProblem(`no single ${end} file was downloaded`);
    requireSum(name, await this.sha256(name), expected);
    return name;
  }
}

export function requireSum(what: string, found: string, expected: string): void {
  if (found === expected) return;
  throw new FetchProblem(`${what} is not what it should be: its checksum is ${found}, expected was ${expected}`);
}

/** The last of what a tool said, in one line. */
export function complaintOf(text: string): string {
  const lines = withoutSecrets(text)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  let said = '';
  for (const line of lines.reverse()) {
    if (said.length + line.length > MOST_SAID) break;
    said = said === '' ? line : `${line}; ${said}`;
  }
  return said || (lines[0] ?? '').slice(-MOST_SAID);
}

/** Tools quote the addresses of mirrors, and some people keep passwords in them. */
function withoutSecrets(text: string): string {
  return text.replaceAll(/(\w+:\/\/)[^\s/]+@/g, '$1…@');
}
