/**
 * A node: a controller of the pods that are bound to it, which runs them as processes of this machine. It may come and go: pods go on,
 * and are taken over by the next one with the same folder.
 */
import { join } from 'node:path';
import { KubeClient, type KubeObject, type Transport } from '@reeve/kube';
import { asReeveError, type Clock, type Ids, type Random, type Verdict, wakeAt } from '@reeve/runtime';
import {
  type Api,
  Controller,
  type Log,
  type Mapping,
  type Parts,
  type Reconcile,
  type Reflection,
} from '@reeve/runtime/manager';
import { type Driver, type DriverName } from '../driver/driver.ts';
import { entrances } from '../driver/entrances.ts';
import type { Host, RunResult } from '../host/host.ts';
import type { Images } from '../image/images.ts';
import { type ConfigMap, configMaps } from '../kinds/config-map.ts';
import { type Pod, pods } from '../kinds/pod.ts';
import { type Secret, secrets } from '../kinds/secret.ts';
import { volumeClaims } from '../kinds/volumeclaim.ts';
import { type RestartBackoff, restartBackoff } from '../pod/backoff.ts';
import { decide } from '../pod/decide.ts';
import { isTerminal } from '../pod/progress.ts';
import { statusOf } from '../pod/status.ts';
import type { PodDecision, StoredPod } from '../pod/view.ts';
import { Runs } from '../shim/runs.ts';
import type { AddressPool } from './addresses.ts';
import type { ExecOptions, StreamOptions } from './exec.ts';
import type { NodeFacts } from './facts.ts';
import type { LogOptions } from './logs.ts';
import type { NodeEnvironment } from './node-environment.ts';
import { nameLines, type ServiceEndpoints, serviceEndpoints } from './names.ts';
import { type ContainerPlace, execAt, logsAt, streamAt } from './pod-access.ts';
import { PodKeeper, type PodTurn } from './pod-keeper.ts';
import { readRecord, recordOf, removeRest } from './record.ts';
import { register } from './registration.ts';
import { NodeRounds } from './rounds.ts';
import { sourcesOf } from './sources.ts';
import { type Uses, usesClaim, usesConfigMap, usesSecret } from './uses.ts';

export interface NodePorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly host: Host;
}

export interface LocalNodeOptions {
  readonly facts: NodeFacts;
  /** Of this node alone: records of pods, their logs and volumes. It may become large. */
  readonly folder: string;
  /** Where the claim controller makes folders for volumes (`systemDirectories`). Default: volumes may lead to host path roots only. */
  readonly volumes?: string;
  /** To the API server. */
  readonly transport: Transport;
  /** Shared by all nodes of the machine. */
  readonly addresses: AddressPool;
  readonly images: Images;
  /** The ones that work here, the one to use first. */
  readonly drivers: readonly [Driver, ...Driver[]];
  readonly sandboxRemedy: string;
  /** How a person allows more host paths. Default: pods that are refused one are told no more than that. */
  readonly hostPathRemedy?: string;
  readonly backoff?: RestartBackoff;
  /** A log longer than this is emptied. Default 10 MiB. */
  readonly mostLogBytes?: number;
  readonly log?: Log;
}

/** How often one turn goes on deciding at once: prepare, start, look. */
const MOST_ROUNDS = 6;
/** A run that is about to say who it is, or processes that were just killed. */
const SOON_MS = 5;
const LATE_MS = 100;

export class LocalNode extends Controller<Pod> {
  readonly #ports: NodePorts;
  readonly #options: LocalNodeOptions;
  readonly #client: KubeClient;
  readonly #runs: Runs;
  readonly #environment: NodeEnvironment;
  readonly #keepers = new Map<string, PodKeeper>();
  #wake: (key: string) => void = () => undefined;
  #wakeAt: (key: string, time: number) => void = () => undefined;
  #reflections: { readonly configMaps: Reflection<ConfigMap>; readonly secrets: Reflection<Secret> } | undefined;

  #endpoints: Reflection<ServiceEndpoints> | undefined;
  #areNamesOld = false;

  /** Takes over what is in the folder. */
  static async open(ports: NodePorts, options: LocalNodeOptions): Promise<LocalNode> {
    const runs = await Runs.open(ports.host, options.folder, () => ports.clock.now());
    const node = new LocalNode(ports, options, runs);
    await node.#adopt();
    return node;
  }

  private constructor(ports: NodePorts, options: LocalNodeOptions, runs: Runs) {
    const { facts, drivers, transport } = options;
    super({ name: `node-${facts.name}` });
    this.#ports = ports;
    this.#options = options;
    this.#runs = runs;
    this.#client = new KubeClient({ ...ports, transport });
    const [driver] = drivers;
    this.#environment = {
      ...ports,
      runs,
      driver,
      entranceOf: entrances(ports.host),
      sandboxRemedy: options.sandboxRemedy,
      hostPathRemedy: options.hostPathRemedy,
      images: options.images,
      addresses: options.addresses,
      facts,
      claimRoot: options.volumes,
      names: (namespace) => nameLines([...(this.#endpoints?.cache.values() ?? [])], namespace),
      wake: (key) => this.#wake(key),
    };
  }

  /** Names of the pods that it has, for tests and for people. Those that were put away it has no more, or not yet again. */
  get podKeys(): readonly string[] {
    return [...this.#keepers.values()].filter(({ isAway }) => !isAway).map(({ key }) => key);
  }

  get nodeName(): string {
    return this.#options.facts.name;
  }

  get driver(): DriverName {
    return this.#environment.driver.name;
  }

  override setUp(parts: Parts): void {
    const { facts, log } = this.#options;
    const queue = parts.queue('pods');
    const own = parts.reflect(pods, { fieldSelector: `spec.nodeName=${facts.name}`, route: () => queue });
    const users =
      (uses: Uses): Mapping<KubeObject> =>
      ({ metadata }) =>
        this.#usersOf(uses, metadata.namespace, metadata.name);
    this.#reflections = {
      configMaps: parts.wake(configMaps, own, users(usesConfigMap), { unscoped: true }),
      secrets: parts.wake(secrets, own, users(usesSecret), { unscoped: true }),
    };
    const endpoints = parts.wake(serviceEndpoints, own, () => this.#renamed(), { unscoped: true });
    this.#endpoints = endpoints;
    parts.wake(volumeClaims, own, users(usesClaim), { unscoped: true });
    parts.work({
      of: own,
      queues: [queue],
      concurrency: 8,
      cancelOn: false,
      reconcile: (work) => this.#reconcile(work),
      gone: ({ key, signal }) => this.#gone(key, signal),
    });
    parts.duringTerm(({ queues }) => {
      const pending = queues[queue];
      this.#wake = (key) => void pending?.add(key);
      this.#wakeAt = (key, time) => void pending?.addAt(key, time);
      const rounds = new NodeRounds({
        ports: this.#ports,
        client: this.#client,
        facts,
        driver: this.driver,
        runs: this.#runs,
        renewNames: () => this.#renewNames(),
        keepers: () => [...this.#keepers.values()],
        wake: (key) => this.#wake(key),
        mostLogBytes: this.#options.mostLogBytes ?? 10 << 20,
        log: log ?? (() => undefined),
      });
      // Whoever was taken over is looked at, also when its object is gone and nobody will ever tell of it.
      for (const { key } of this.#keepers.values()) this.#wake(key);
      return {
        [Symbol.asyncDispose]: async () => {
          this.#wake = () => undefined;
          this.#wakeAt = () => undefined;
          await rounds[Symbol.asyncDispose]();
          await Promise.all([...this.#keepers.values()].map((keeper) => keeper.close()));
        },
      };
    });
  }

  /** Says what the node is before a manager runs it: nobody must find there what it was before. */
  register(signal: AbortSignal): Promise<void> {
    const { clock, host } = this.#ports;
    const { facts } = this.#options;
    const { driver } = this;
    return register({ client: this.#client, clock, processes: host.processes, facts, driver, signal });
  }

  /** Runs a command in a container and waits for its end. */
  exec(at: ContainerPlace, command: readonly string[], options: ExecOptions): Promise<RunResult> {
    return execAt(this.#environment, [...this.#keepers.values()], at, command, options);
  }

  /** Runs a command in a container with its streams as they come. Its exit code. */
  execStream(at: ContainerPlace, command: readonly string[], options: StreamOptions): Promise<number> {
    return streamAt(this.#environment, [...this.#keepers.values()], at, command, options);
  }

  /** What a container wrote, in pieces as they come. Throws if there is no such run. */
  logs(at: ContainerPlace & { readonly previous?: boolean }, options: LogOptions): AsyncGenerator<Uint8Array> {
    return logsAt(this.#environment, [...this.#keepers.values()], at, options);
  }

  /**
   * Ends all pods of this node, each within its own time, whatever their objects say: for a machine that is put away. Only when no
   * manager runs it any more. The next node with the same folder knows how runs ended that ended by themselves; those that are ended
   * here are lost, and their pods begin anew by their policy.
   */
  async endPods(signal: AbortSignal): Promise<void> {
    const awaySince = this.#ports.clock.now();
    while (this.#keepers.size > 0) {
      for (const keeper of this.#keepers.values()) {
        const decision = await this.#advance(keeper, this.#silently(keeper, signal), { awaySince });
        if (!this.#isFinished(keeper, decision)) continue;
        await keeper.putAway();
        this.#keepers.delete(keeper.uid);
      }
      if (this.#keepers.size > 0) await this.#ports.clock.sleep(LATE_MS, signal);
    }
  }

  /** Pods that are made of this object: they need not wait any longer for it. */
  #usersOf(uses: Uses, namespace: string | undefined, name: string): readonly string[] {
    const found = [...this.#keepers.values()].filter(
      ({ pod }) => pod.metadata.namespace === namespace && uses(pod, name),
    );
    for (const keeper of found) keeper.hurry();
    return found.map(({ key }) => key);
  }

  #renamed(): readonly string[] {
    this.#areNamesOld = true;
    return [];
  }

  /** Many changes at once are written once. */
  async #renewNames(): Promise<void> {
    if (!this.#areNamesOld || !this.#environment.driver.hasMounts) return;
    this.#areNamesOld = false;
    for (const keeper of this.#keepers.values()) await keeper.renewHosts();
  }

  async #adopt(): Promise<void> {
    const { files, processes } = this.#ports.host;
    const folder = join(this.#options.folder, 'pods');
    for (const { name: uid } of (await files.list(folder)) ?? []) {
      const record = await readRecord(files, join(folder, uid));
      if (!record) continue;
      const keeper = new PodKeeper(this.#environment, record);
      await keeper.refresh();
      this.#keepers.set(uid, keeper);
    }
    for (const row of this.#runs.orphans((uid) => this.#keepers.has(uid))) processes.signal(row, 'SIGKILL');
    for (const { name: uid } of (await files.list(folder)) ?? []) {
      const keeper = this.#keepers.get(uid);
      if (!keeper) await files.remove(join(folder, uid));
      else if (keeper.isAway) await removeRest(files, keeper.folder);
    }
  }

  async #reconcile(work: Reconcile<Pod>): Promise<Verdict | undefined> {
    const pod = work.object;
    const { uid } = pod.metadata;
    // Of the same name, and not this one: first nothing may be left of it, or two would share their volumes.
    if (!(await this.#succeeds(work))) return undefined;
    let keeper = this.#keepers.get(uid);
    if (keeper?.isAway && isTerminal(pod)) {
      await this.#remove(keeper); // the API server knows all that was kept
      keeper = undefined;
    }
    if (!keeper) {
      if (isTerminal(pod)) return this.#forgotten(work);
      // Written down when it is prepared, or cannot be: before that there is nothing of it that would outlive this process.
      keeper = new PodKeeper(this.#environment, recordOf(pod, work.now()), true);
      this.#keepers.set(uid, keeper);
    }
    await keeper.follow(pod);
    const turn = { ...this.#turnOf(pod, work.signal), events: work.events };
    const decision = await this.#advance(keeper, turn).catch((error: unknown) => {
      // A full disk, a server that is away: it is tried again, and whoever looks at the pod should know why it does not go on.
      work.events.warning('FailedSync', `error syncing pod, retrying: ${asReeveError(error).message}`, 'Syncing');
      throw error;
    });
    // One write says it all, a few milliseconds later.
    if ([...keeper.containers.values()].some(({ isSettling }) => isSettling)) return this.#next(keeper, decision);
    const status = statusOf(pod, keeper.view(), work.now(), this.#backoff);
    keeper.notices.backOff(pod, status, work.events);
    await work.status(status);
    if (!this.#isFinished(keeper, decision)) return this.#next(keeper, decision);
    await this.#removeObject(work.api, pod, work.signal);
    await this.#remove(keeper);
    return undefined;
  }

  /** It ended, and this node knows nothing more of it. */
  async #forgotten({ object, api, signal }: Reconcile<Pod>): Promise<undefined> {
    if (object.metadata.deletionTimestamp !== undefined) await this.#removeObject(api, object, signal);
    return undefined;
  }

  async #removeObject(client: Api, { metadata }: StoredPod, signal: AbortSignal): Promise<void> {
    const api = client.resource(pods, metadata.namespace);
    try {
      await api.delete(metadata.name, { uid: metadata.uid, gracePeriodSeconds: 0, signal });
    } catch (error) {
      // Gone already, or a successor has its name: what was to be removed is not there.
      const found = await api.find(metadata.name, { signal });
      if (found?.metadata.uid === metadata.uid) throw error;
    }
  }

  /** Its object is not in the cache any more. */
  async #gone(key: string, signal: AbortSignal): Promise<void> {
    const slash = key.indexOf('/');
    const found = await this.#client.resource(pods, key.slice(0, slash)).find(key.slice(slash + 1), { signal });
    await this.#retire(key, found?.metadata.uid, signal);
  }

  /** True if no other pod of this name is left here. Which one lives on is asked live: a cache may be behind. */
  async #succeeds({ key, object, api, signal }: Reconcile<Pod>): Promise<boolean> {
    const { namespace, name, uid } = object.metadata;
    if (![...this.#keepers.values()].some((one) => one.key === key && one.uid !== uid)) return true;
    const live = await api.resource(pods, namespace).find(name, { signal });
    return (await this.#retire(key, live?.metadata.uid, signal)) && live?.metadata.uid === uid;
  }

  /** Ends pods of this name but for the one that lives on. True if there are none any more. */
  async #retire(key: string, except: string | undefined, signal: AbortSignal): Promise<boolean> {
    const others = [...this.#keepers.values()].filter((one) => one.key === key && one.uid !== except);
    for (const keeper of others) {
      const decision = await this.#advance(keeper, this.#silently(keeper, signal), { isGone: true });
      if (this.#isFinished(keeper, decision)) await this.#remove(keeper);
      else this.#later(key, keeper, decision);
    }
    return others.every(({ uid }) => !this.#keepers.has(uid));
  }

  /** Decides and acts until there is nothing more to do at once. */
  async #advance(
    keeper: PodKeeper,
    turn: PodTurn,
    leaving?: { readonly isGone: true } | { readonly awaySince: number },
  ): Promise<PodDecision> {
    const { clock } = this.#ports;
    for (let round = 1; ; round++) {
      await keeper.refresh();
      // Of a pod that goes nothing is kept current, and the server may be away.
      if (!leaving) await keeper.tend(turn);
      const decision = decide(keeper.pod, keeper.view(), clock.now(), { ...leaving, backoff: this.#backoff });
      let isChanged = false;
      for (const action of decision.actions) if (await keeper.perform(action, turn)) isChanged = true;
      if (!isChanged || round >= MOST_ROUNDS) return decision;
    }
  }

  #isFinished(keeper: PodKeeper, { actions }: PodDecision): boolean {
    return actions.some(({ type }) => type === 'finish') && keeper.sweep();
  }

  #next(keeper: PodKeeper, decision: PodDecision): Verdict | undefined {
    const at = this.#wakeTime(keeper, decision);
    return at === undefined ? undefined : wakeAt(at);
  }

  #later(key: string, keeper: PodKeeper, decision: PodDecision): void {
    const at = this.#wakeTime(keeper, decision);
    if (at !== undefined) this.#wakeAt(key, at);
  }

  #wakeTime(keeper: PodKeeper, { wakeAt: decided, actions }: PodDecision): number | undefined {
    const now = this.#ports.clock.now();
    const times = [decided, keeper.renewAt].filter((time) => time !== undefined);
    const states = [...keeper.containers.values()].map(({ latest }) => latest);
    if (states.some((latest) => latest?.state === 'starting')) times.push(now + SOON_MS);
    // Whoever was asked to end is our child only if we started it: others end without telling.
    const isEnding = states.some((latest) => latest?.state === 'running' && latest.stop !== undefined);
    if (isEnding || actions.some(({ type }) => type === 'kill' || type === 'finish')) times.push(now + LATE_MS);
    return times.length === 0 ? undefined : Math.max(now + 1, Math.min(...times));
  }

  async #remove(keeper: PodKeeper): Promise<void> {
    await keeper.remove();
    this.#keepers.delete(keeper.uid);
  }

  /** Nobody is told of it. */
  #silently({ pod }: PodKeeper, signal: AbortSignal): PodTurn {
    const silent = () => undefined;
    return { ...this.#turnOf(pod, signal), events: { normal: silent, warning: silent } };
  }

  #turnOf(pod: StoredPod, signal: AbortSignal): Pick<PodTurn, 'sources' | 'signal'> {
    const caches = this.#reflections;
    const watched = {
      configMap: (key: string) => caches?.configMaps.cache.get(key),
      secret: (key: string) => caches?.secrets.cache.get(key),
    };
    return { sources: sourcesOf(this.#client, watched, pod, this.#ports.clock, signal), signal };
  }

  get #backoff(): RestartBackoff {
    return this.#options.backoff ?? restartBackoff;
  }
}
