/** A reflector on a real kube-apiserver, behind a relay that can misbehave, judged by what it told and by what it holds. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Connection,
  connect,
  type KubeObject,
  type ObjectMeta,
  type Resource as Kind,
  type ResourceClient,
  systemKubePorts,
} from '@reeve/kube';
import { type Kube, type Relay, startRelay, until } from '@reeve/rig';
import { ResourceCache } from '../cache/cache.ts';
import type { Clock } from '../ports/ports.ts';
import { systemClock, systemRandom } from '../ports/system.ts';
import type { ResourceEvent } from '../resource/resource.ts';
import { Reflector } from './reflector.ts';

export interface Thing extends KubeObject {
  readonly metadata: ObjectMeta & { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
}

/** How much faster the reflector's clock goes: its patience is measured in minutes. */
export const QUICK = 20;

const clockOf = (speed: number): Clock => ({
  now: () => systemClock.now() * speed,
  sleep: (ms, signal) => systemClock.sleep(ms / speed, signal),
});

export interface Scene {
  readonly relay: Relay;
  readonly reflector: Reflector<Thing, Thing>;
  readonly cache: ResourceCache<Thing>;
  /** `added name`, `changed name`, `removed name`, in the order told; `unseen` where a list found it missing. */
  readonly told: string[];
  /** Not through the relay: for writes, and for the truth. */
  readonly direct: ResourceClient<Thing>;
  /** Waits until the cache holds exactly what a fresh list says. Default 20 s. */
  equalsServer(timeoutMs?: number): Promise<void>;
  /** Ends the reflector and proves that nothing is left open. */
  end(): Promise<void>;
}

/** What a test is to a scene: something that ends, and tells. */
export interface Endings {
  after(work: () => Promise<void>): void;
}

export interface SceneOptions {
  readonly watches: 'http1' | 'http2';
  readonly namespace: string;
  /** Whether its first list is a stream. Default true. */
  readonly streams?: boolean;
  /** Default QUICK. */
  readonly speed?: number;
  /** Who reads and writes. Default: the administrator. */
  readonly kubeconfig?: string;
}

export async function reflecting(
  t: Endings,
  kube: Kube,
  kind: Kind<Thing>,
  { watches, namespace, streams = true, speed = QUICK, kubeconfig = kube.kubeconfig }: SceneOptions,
): Promise<Scene> {
  const relay = await startRelay({ port: Number(new URL(kube.url).port) });
  const file = join(kube.folder, `relay-${relay.port}.kubeconfig`);
  const text = readFileSync(kubeconfig, 'utf8').replace(kube.url, `https://127.0.0.1:${relay.port}`);
  writeFileSync(file, text, { mode: 0o600 });
  const http2 = { pingAfterMs: 500, pongWithinMs: 2_000, settingsWithinMs: 2_000 };
  const behind = await connect(systemKubePorts(), { file, watches, http2, fieldManager: 'scene' });
  const straight = await connect(systemKubePorts(), { file: kubeconfig });
  const source = behind.client.resource(kind, namespace);
  const cache = new ResourceCache<Thing>({ scope: { group: kind.group, kind: kind.kind, namespace } });
  const reflector = new Reflector<Thing, Thing>(
    { clock: clockOf(speed), random: systemRandom },
    {
      source: { list: (request) => source.list(request), watch: (request) => source.watchBatches(request) },
      cache,
      streams,
    },
  );
  const judge = new Judge();
  const stop = new AbortController();
  const running = (async () => {
    for await (const event of reflector.events(stop.signal)) judge.hear(event);
  })();
  running.catch(() => undefined); // told by `end`, which waits for it
  const direct = straight.client.resource(kind, namespace);
  let ended: Promise<void> | undefined;
  const end = async () => {
    stop.abort(new Error('the test is over'));
    await running;
    await closed(relay, behind, straight);
  };
  const once = () => (ended ??= end());
  t.after(once);
  return {
    relay,
    reflector,
    cache,
    told: judge.told,
    direct,
    async equalsServer(timeoutMs = 60_000) {
      let seen: { readonly fresh: readonly string[]; readonly held: readonly string[] } | undefined;
      const isEqual = async () => {
        const fresh = versions((await direct.listAll()).items);
        const held = versions(cache.values() as Iterable<Thing>);
        seen = { fresh, held };
        return held.join() === fresh.join();
      };
      await until('the cache equals a fresh list', isEqual, { timeoutMs }).catch((error: unknown) =>
        assert.fail(`${String(error)}: ${seen && difference(seen)}, ${JSON.stringify(reflector.state)}`),
      );
      assert.deepEqual(
        judge.present(),
        versions(cache.values() as Iterable<Thing>),
        'what was told adds up to the cache',
      );
    },
    end: once,
  };
}

async function closed(relay: Relay, ...connections: readonly Connection[]): Promise<void> {
  // The reflector has let go of its streams; what is left are the two connections that its requests use in turns.
  await until('the reflector let go', () => relay.open <= 2);
  for (const connection of connections) connection.close();
  await until('no connection is left', () => relay.open === 0);
  await relay.close();
  const sockets = () => process.getActiveResourcesInfo().filter((one) => /TCPSocket|TLS/.test(one));
  await until('no socket is left', () => sockets().length === 0).catch(() => assert.fail(sockets().join()));
}

const versions = (objects: Iterable<Thing>): readonly string[] =>
  [...objects].map(({ metadata }) => `${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`).sort();

/** The first few on either side: there may be 100,000. */
function difference({ held, fresh }: { readonly held: readonly string[]; readonly fresh: readonly string[] }): string {
  const only = (these: readonly string[], those: readonly string[]) => {
    const known = new Set(those);
    return these.filter((one) => !known.has(one)).slice(0, 20);
  };
  return `only the cache has [${only(held, fresh).join()}], only the server has [${only(fresh, held).join()}]`;
}

/** Holds every event against those before it. */
class Judge {
  readonly told: string[] = [];
  readonly #present = new Map<string, string>();
  readonly #newest = new Map<string, bigint>();

  hear({ change, uid, object, final }: ResourceEvent<Thing>): void {
    const { name, resourceVersion = '' } = object.metadata;
    this.told.push(`${change} ${name}${final === false ? ' unseen' : ''}`);
    const isKnown = this.#present.has(uid);
    assert.equal(isKnown, change !== 'added', `${change} ${name} when it was ${isKnown ? '' : 'not '}known`);
    if (change === 'removed') {
      this.#present.delete(uid);
      return;
    }
    const version = BigInt(resourceVersion);
    assert.ok(version > (this.#newest.get(uid) ?? 0n), `${name} went back to ${resourceVersion}`);
    this.#newest.set(uid, version);
    this.#present.set(uid, `${name} ${uid} ${resourceVersion}`);
  }

  present(): readonly string[] {
    return [...this.#present.values()].sort();
  }
}

/** Some changes of every kind. */
export async function churn(direct: ResourceClient<Thing>, rounds: number, label: string): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const name = `${label}-${round}`;
    await direct.create({ metadata: { name }, data: { round: '0' } });
    await direct.patch(name, { type: 'merge', value: { data: { round: '1' } } });
    const previous = `${label}-${round - 1}`;
    if (round % 2 === 1) await direct.delete(previous);
    // Created again under the same name: another object.
    if (round % 4 === 3) await direct.create({ metadata: { name: previous }, data: { round: '2' } });
  }
}
