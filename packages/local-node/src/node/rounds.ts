/** What a node does again and again beside its pods: says that it lives, looks after processes, keeps logs short. */
import type { KubeClient } from '@reeve/kube';
import { asReeveError, type Clock } from '@reeve/runtime';
import type { Log } from '@reeve/runtime/manager';
import type { Host } from '../host/host.ts';
import type { Runs } from '../shim/runs.ts';
import type { NodeFacts } from './facts.ts';
import type { PodKeeper } from './pod-keeper.ts';
import { Wildcards } from './wildcards.ts';
import { RENEW_MS, register, renewLease } from './registration.ts';

export interface RoundsOptions {
  readonly ports: { readonly clock: Clock; readonly host: Host };
  readonly client: KubeClient;
  readonly facts: NodeFacts;
  readonly driver: string;
  readonly runs: Runs;
  renewNames(): Promise<void>;
  keepers(): readonly PodKeeper[];
  wake(key: string): void;
  readonly mostLogBytes: number;
  readonly log: Log;
}

const LOOK_MS = 1_000;
/** Every so many looks the kernel is asked about all, also about those whose end would be told. */
const THOROUGH = 10;
const NAMES_MS = 250;
const WILDCARDS_MS = 2_000;
const LOGS_MS = 2_000;
const ORPHANS_MS = 60_000;
const REGISTER_MS = 300_000;
/** After a failure: the server may be there again soon. */
const RETRY_MS = 1_000;

export class NodeRounds implements AsyncDisposable {
  readonly #options: RoundsOptions;
  readonly #end = new AbortController();
  readonly #seeker: Wildcards;
  readonly #loops: readonly Promise<void>[];
  #looks = 0;

  constructor(options: RoundsOptions) {
    this.#options = options;
    this.#seeker = new Wildcards(options.ports.host, options.runs);
    const { signal } = this.#end;
    const { client, ports, facts, driver } = options;
    const { clock, host } = ports;
    const registration = { client, clock, processes: host.processes, facts, driver, signal };
    this.#loops = [
      this.#every('register the node', REGISTER_MS, () => register(registration)),
      this.#every('renew the lease of the node', RENEW_MS, () => renewLease(registration)),
      this.#every('look after processes', LOOK_MS, async () => this.#look()),
      this.#every('renew names', NAMES_MS, () => options.renewNames()),
      this.#every('look for wildcard listeners', WILDCARDS_MS, async () => this.#wildcards()),
      this.#every('keep logs short', LOGS_MS, () => this.#shorten()),
      this.#every('look for orphans', ORPHANS_MS, async () => this.#orphans()),
    ];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort(new Error('the node ends'));
    await Promise.all(this.#loops);
  }

  async #every(what: string, ms: number, work: () => Promise<void>): Promise<void> {
    const { clock } = this.#options.ports;
    const { signal } = this.#end;
    while (!signal.aborted) {
      let pause = ms;
      try {
        await work();
      } catch (error) {
        if (signal.aborted) return;
        pause = Math.min(ms, RETRY_MS);
        const { code, message } = asReeveError(error);
        this.#options.log('a round of the node failed', { node: this.#options.facts.name, what, code, message });
      }
      await clock.sleep(pause, signal).catch(() => undefined);
    }
  }

  /** Ends are told by the shim's parent if that is us. Otherwise, and in any case, they are seen here. */
  #look(): void {
    const isThorough = this.#looks++ % THOROUGH === 0;
    for (const keeper of this.#options.keepers()) if (keeper.hasNews(isThorough)) this.#options.wake(keeper.key);
  }

  #wildcards(): void {
    const { keepers, wake } = this.#options;
    for (const { key } of this.#seeker.look(keepers())) wake(key);
  }

  #orphans(): void {
    const { runs, ports, keepers } = this.#options;
    const known = new Set(keepers().map(({ uid }) => uid));
    for (const row of runs.orphans((uid) => known.has(uid))) ports.host.processes.signal(row, 'SIGKILL');
  }

  /** A program that floods its log must not fill the disk. What it wrote is lost, which its pod tells; it goes on at the beginning. */
  async #shorten(): Promise<void> {
    const { runs, ports, keepers, wake, mostLogBytes } = this.#options;
    for (const keeper of keepers()) {
      for (const container of keeper.containers.values()) {
        if (!container.isLive || !container.latest) continue;
        const path = runs.logPath(container.keyOf(container.latest.attempt));
        const { size = 0 } = (await ports.host.files.stat(path)) ?? {};
        if (size <= mostLogBytes) continue;
        await ports.host.files.truncate(path);
        container.hasFloodedLog = true;
        wake(keeper.key);
      }
    }
  }
}
