/**
 * The images of this program: names for programs that run as processes. Programs on PATH come first; others are fetched once, by the
 * tools of this machine, into the user's cache. A pod never waits inside: while something is fetched, it is told so and asks again.
 */
import type { Clock, Ids } from '@reeve/runtime';
import type { Host, Owner } from '../host/host.ts';
import { hostImages, type Images, type NoImage, type ResolvedImage } from '../image/images.ts';
import { ImageCache } from './cache.ts';
import { type Choice, choose, type Findings, otherVersions, sizeText } from './choose.ts';
import { type Entry, type Fetchable, type Launch, originText, toolsOf } from './entry.ts';
import { fetchInto } from './fetch/fetch.ts';
import { FetchWork } from './fetch/work.ts';
import { InstalledPrograms } from './installed.ts';
import { fits, parseReference } from './reference.ts';

export interface CatalogPorts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly host: Host;
}

export interface CatalogOptions {
  readonly entries: readonly Entry[];
  /** Where fetched programs are kept. */
  readonly folder: string;
  /** Of the user: tools find their settings by it. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Node's name of this machine's processor. */
  readonly arch: string;
  /** What `reeve` stands for: this program. */
  readonly self?: { readonly command: readonly [string, ...string[]]; readonly version: string };
  /** Told of every fetch: that it began, how far it is whenever somebody asks, how it ended. */
  readonly onFetch?: (news: FetchNews) => void;
}

export interface FetchNews {
  readonly state: 'begun' | 'coming' | 'fetched' | 'failed';
  /** `valkey 9.1.2`. */
  readonly what: string;
  readonly from: string;
  readonly bytes: number;
  /** So many of them are there, about. */
  readonly there: number;
  readonly tookMs: number;
  /** Why it failed. */
  readonly why?: string;
}

/** What there is of an image, for people. */
export type Availability =
  | { readonly state: 'installed'; readonly path: string; readonly version: string }
  | { readonly state: 'cached'; readonly folder: string; readonly version: string }
  | { readonly state: 'fetchable'; readonly version: string; readonly from: string; readonly bytes: number }
  | { readonly state: 'missing'; readonly why: string };

export interface ImageReport {
  readonly name: string;
  /** Of what runs if no version is asked for. */
  readonly availability: Availability;
  /** Versions that can be had besides, by their tags. */
  readonly others: readonly string[];
}

interface Failure {
  readonly at: number;
  readonly message: string;
}

/** For so long a failure is told to all who ask; then it is tried again. */
const RETRY_MS = 10_000;
const SELF = 'reeve';

export class Catalog implements Images, AsyncDisposable {
  readonly #ports: CatalogPorts;
  readonly #options: CatalogOptions;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #cache: ImageCache;
  readonly #programs: InstalledPrograms;
  readonly #fetching = new Map<string, { readonly since: number; readonly done: Promise<unknown> }>();
  readonly #failures = new Map<string, Failure>();
  readonly #stop = new AbortController();

  constructor(ports: CatalogPorts, options: CatalogOptions) {
    this.#ports = ports;
    this.#options = options;
    const given = Object.entries(options.environment).filter((pair): pair is [string, string] => pair[1] !== undefined);
    this.#environment = { ...Object.fromEntries(given), PATH: ports.host.path };
    this.#cache = new ImageCache(ports, options.folder);
    this.#programs = new InstalledPrograms(ports.host, ports.clock, this.#environment);
  }

  async resolve(image: string, signal: AbortSignal): Promise<ResolvedImage | NoImage> {
    const [base = ''] = image.split(/[:@]/);
    if (base === 'host') return hostImages.resolve(image, signal);
    const reference = parseReference(image);
    if ('problem' in reference) return { message: reference.problem };
    const { name, wanted } = reference;
    if (name === SELF) return this.#itself(image, wanted);
    const entry = this.#options.entries.find((one) => one.name === name);
    if (!entry) return { message: `image "${image}" is not known here; there are ${this.#names().join(', ')}` };
    const choice = choose(entry, wanted, await this.#lookAt(entry, wanted, signal));
    switch (choice.type) {
      case 'installed':
        return resolved(entry, this.#launchOf(entry, choice.path));
      case 'cached':
        return this.#fromCache(entry, choice.fetchable);
      case 'fetch':
        return this.#fetch(name, choice.fetchable);
      case 'none':
        return { message: choice.why };
    }
  }

  userOf(image: string): Owner | undefined {
    const reference = parseReference(image);
    if ('problem' in reference) return undefined;
    return this.#options.entries.find(({ name }) => name === reference.name)?.user;
  }

  /** What would run for each name if no version is asked for. Fetches nothing. */
  async report(signal: AbortSignal): Promise<readonly ImageReport[]> {
    const reports: ImageReport[] = [];
    for (const entry of this.#options.entries) {
      const findings = await this.#lookFurther(entry, await this.#onPath(entry, signal), signal);
      const availability = this.#availability(entry, choose(entry, undefined, findings));
      reports.push({ name: entry.name, availability, others: otherVersions(entry, findings) });
    }
    return reports;
  }

  /** Ends what is being fetched; nothing of it stays. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error('the catalog was closed'));
    await Promise.all([...this.#fetching.values()].map(({ done }) => done));
  }

  #names(): readonly string[] {
    return [...this.#options.entries.map(({ name }) => name), ...(this.#options.self ? [SELF] : []), 'host'].sort();
  }

  #itself(image: string, wanted: string | undefined): ResolvedImage | NoImage {
    const { self } = this.#options;
    if (!self) return { message: `image "${image}" is not known here: this is not run by reeve itself` };
    if (!fits(self.version, wanted)) {
      return { message: `image "${image}": this is reeve ${self.version}, and there is no other one here` };
    }
    return { entrypoint: self.command, command: [], env: {}, path: [], tell: () => ({ args: [], env: {} }) };
  }

  #fromCache(entry: Entry, { version, launch }: Fetchable): ResolvedImage {
    const folder = this.#cache.pathOf(entry.name, version);
    return { ...resolved(entry, launch(folder)), folder };
  }

  #launchOf({ installed }: Entry, path: string): Launch {
    return installed?.launch(path) ?? { argv: [path], env: {}, path: [] };
  }

  /** No further than needed: pods that start often ask for what is on PATH. */
  async #lookAt(entry: Entry, wanted: string | undefined, signal: AbortSignal): Promise<Findings> {
    const found = await this.#onPath(entry, signal);
    if (found.some(({ version }) => version !== undefined && fits(version, wanted))) {
      return { installed: found, cached: [], missing: [], needed: {}, arch: this.#options.arch };
    }
    const fitting = entry.fetchable.filter(({ version }) => fits(version, wanted));
    return this.#lookFurther(entry, found, signal, (cached) => beforeCached(fitting, cached, this.#options.arch));
  }

  async #onPath({ installed }: Entry, signal: AbortSignal): Promise<Findings['installed']> {
    return installed ? await this.#programs.ask(installed, signal) : [];
  }

  /** Tools are asked for only for what may have to be fetched: some take their time to answer. */
  async #lookFurther(
    { name, fetchable }: Entry,
    installed: Findings['installed'],
    signal: AbortSignal,
    toFetch: (cached: readonly string[]) => readonly Fetchable[] = () => fetchable,
  ): Promise<Findings> {
    const cached: string[] = [];
    for (const { version } of fetchable) if (await this.#cache.has(name, version)) cached.push(version);
    const missing: string[] = [];
    const tools = new Map(
      toFetch(cached)
        .flatMap(toolsOf)
        .map((tool) => [tool.name, tool]),
    );
    for (const tool of tools.values()) if (!(await this.#programs.has(tool, signal))) missing.push(tool.name);
    const needed: Record<string, Findings['installed']> = {};
    for (const { needs } of fetchable) {
      if (needs) needed[needs.program] ??= await this.#programs.ask(needs, signal);
    }
    return { installed, cached, missing, needed, arch: this.#options.arch };
  }

  async #fetch(name: string, fetchable: Fetchable): Promise<NoImage> {
    const { version, bytes } = fetchable;
    const key = `${name} ${version}`;
    const failure = this.#failures.get(key);
    if (failure && this.#ports.clock.now() - failure.at < RETRY_MS) return { message: failure.message };
    this.#failures.delete(key);
    if (!this.#fetching.has(key) && !this.#stop.signal.aborted) this.#begin(key, name, fetchable);
    // Some tools work elsewhere first, and what is unpacked is larger than what came.
    const there = Math.min(bytes, await this.#cache.underWay(name));
    const since = this.#fetching.get(key)?.since;
    if (since !== undefined) this.#tell('coming', key, fetchable, since, { there });
    const progress = there === 0 ? sizeText(bytes) : `${sizeText(there)} of ${sizeText(bytes)}`;
    return { message: `fetching ${key} from ${originText(fetchable)}: ${progress}`, isComing: true };
  }

  #begin(key: string, name: string, fetchable: Fetchable): void {
    const { host, clock } = this.#ports;
    const { signal } = this.#stop;
    const since = clock.now();
    const make = async (folder: string): Promise<void> => {
      this.#tell('begun', key, fetchable, since);
      await fetchInto(new FetchWork({ host, folder, environment: this.#environment, signal }), fetchable);
      this.#tell('fetched', key, fetchable, since, { there: fetchable.bytes });
    };
    // If another process is at it, there is nothing to do: the next question looks again.
    const done = this.#cache
      .make(name, fetchable.version, make)
      .catch((error: unknown) => {
        if (signal.aborted) return;
        const why = this.#failureText(key, fetchable, error);
        this.#failures.set(key, { at: clock.now(), message: why });
        this.#tell('failed', key, fetchable, since, { why });
      })
      .finally(() => this.#fetching.delete(key));
    this.#fetching.set(key, { since, done });
  }

  #tell(
    state: FetchNews['state'],
    what: string,
    fetchable: Fetchable,
    since: number,
    more: Partial<FetchNews> = {},
  ): void {
    const tookMs = this.#ports.clock.now() - since;
    const { bytes } = fetchable;
    this.#options.onFetch?.({ state, what, from: originText(fetchable), bytes, there: 0, tookMs, ...more });
  }

  /** What was tried, and what to do: most often there is no network. */
  #failureText(key: string, fetchable: Fetchable, error: unknown): string {
    const why = error instanceof Error ? error.message : String(error);
    const [name = ''] = key.split(' ');
    const program = this.#options.entries.find((one) => one.name === name)?.installed?.program;
    const other = program === undefined ? 'there is no other way to have it' : `put ${program} on PATH`;
    const remedy = `If this machine does not reach its package source, ${other}; it is tried again by itself.`;
    return `${key} could not be fetched from ${originText(fetchable)}: ${why}. ${remedy}`;
  }

  #availability({ name }: Entry, choice: Choice): Availability {
    switch (choice.type) {
      case 'installed':
        return { state: 'installed', path: choice.path, version: choice.version };
      case 'cached': {
        const { version } = choice.fetchable;
        return { state: 'cached', folder: this.#cache.pathOf(name, version), version };
      }
      case 'fetch': {
        const { version, bytes } = choice.fetchable;
        return { state: 'fetchable', version, from: originText(choice.fetchable), bytes };
      }
      case 'none':
        return { state: 'missing', why: choice.why };
    }
  }
}

/** Nothing behind one that is there already, and needs nothing else, is taken. */
function beforeCached(fitting: readonly Fetchable[], cached: readonly string[], arch: string): readonly Fetchable[] {
  const at = fitting.findIndex((one) => cached.includes(one.version) && !one.needs && (one.arch ?? arch) === arch);
  return at === -1 ? fitting : fitting.slice(0, at);
}

function resolved({ tell, data, program }: Entry, { argv, env, path }: Launch): ResolvedImage {
  const known = { ...(data && { data }), ...(program !== undefined && { program }) };
  return { entrypoint: argv, command: [], env, path, tell, ...known };
}
