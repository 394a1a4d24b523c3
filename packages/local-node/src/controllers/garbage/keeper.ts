/**
 * Keeps a garbage collector for exactly the kinds that the server serves. When kinds come or go, the next collector is added before the
 * last one is taken away: their caches are shared, so that nothing is listed again. Two at once do no harm, because every step of either
 * rests on live reads and versions.
 */
import { type KubeObject, type Resource, resource } from '@reeve/kube';
import { asReeveError, type Clock } from '@reeve/runtime';
import { Controller, kindName, type Log, type Manager, type Parts } from '@reeve/runtime/manager';
import { GarbageCollector } from './controller.ts';
import { type Discovery, servedKinds } from './served.ts';

const definitions = resource<KubeObject>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
});

export interface KeeperPorts {
  readonly clock: Clock;
  readonly client: Discovery;
  /** The manager that this controller is in. */
  readonly host: Pick<Manager, 'add' | 'remove'>;
  readonly log?: Log;
}

/** Events own nothing, and go by age. */
const ignored: readonly string[] = ['events'];
const RETRY_MS = 1_000;

export class GarbageKeeper extends Controller {
  readonly #ports: KeeperPorts;
  #collector: { readonly name: string; readonly kinds: string } | undefined;
  #generation = 0;
  #turn: Promise<void> = Promise.resolve();

  constructor(ports: KeeperPorts) {
    super({ name: 'garbage-keeper' });
    this.#ports = ports;
  }

  override setUp(parts: Parts): void {
    const queue = parts.queue('definitions');
    const of = parts.reflect(definitions, { route: () => queue });
    const refresh = ({ signal }: { readonly signal: AbortSignal }) => this.#refresh(signal);
    parts.work({ of, queues: [queue], cancelOn: false, reconcile: refresh, gone: refresh });
    // Also without any definition there are kinds.
    parts.duringTerm(() => {
      const stop = new AbortController();
      const running = this.#begin(stop.signal);
      return {
        async [Symbol.asyncDispose]() {
          stop.abort();
          await running;
        },
      };
    });
  }

  async #begin(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        return await this.#refresh(signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#ports.log?.('the kinds of the server could not be read', { message: asReeveError(error).message });
        await this.#ports.clock.sleep(RETRY_MS, signal).catch(() => undefined); // ended
      }
    }
  }

  /** One at a time: two that look at once would each add a collector. */
  #refresh(signal: AbortSignal): Promise<void> {
    const turn = this.#turn.then(() => this.#look(signal));
    this.#turn = turn.catch(() => undefined); // told to who asked
    return turn;
  }

  async #look(signal: AbortSignal): Promise<void> {
    const served = await servedKinds(this.#ports.client, signal);
    const kinds = served.filter(({ plural }) => !ignored.includes(plural));
    const names = namesOf(kinds);
    if (names === this.#collector?.kinds || signal.aborted) return;
    const before = this.#collector;
    const name = `garbage-${++this.#generation}`;
    this.#ports.host.add(new GarbageCollector(name, kinds));
    this.#collector = { name, kinds: names };
    if (before) await this.#ports.host.remove(before.name);
  }
}

function namesOf(kinds: readonly Resource<KubeObject>[]): string {
  return kinds
    .map((kind) => `${kindName(kind)}/${kind.version}`)
    .toSorted()
    .join();
}
