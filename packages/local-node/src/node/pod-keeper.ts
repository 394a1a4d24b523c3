/** A pod on this node: carries out what was decided for it, and says what became of it. */
import { join } from 'node:path';
import { isKubeError } from '@reeve/kube';
import type { EventWriter } from '@reeve/runtime/manager';
import { type Mount, SandboxProblem } from '../driver/driver.ts';
import { isResolved } from '../image/images.ts';
import { ConfigProblem } from '../pod/environment.ts';
import { notHonoured } from '../pod/not-honoured.ts';
import { pulledText, pulling } from '../pod/pulling.ts';
import { CHANGED, initsOf, isTerminal, mainsOf, type PodContainer } from '../pod/progress.ts';
import type { Obstacle, PodAction, PodView, StoredPod } from '../pod/view.ts';
import { PodVolumes } from '../volumes/pod-volumes.ts';
import { NoAccount, type Sources, VolumeProblem } from '../volumes/sources.ts';
import { boxOf } from './box.ts';
import { ContainerKeeper } from './container-keeper.ts';
import { hookOf, probesOf } from './hooks.ts';
import { hostsMount, hostsPath, hostsText } from './hosts.ts';
import type { NodeEnvironment } from './node-environment.ts';
import { Notices } from './notices.ts';
import { awayRecord, keepOnly, type PodRecord, writeIfRoom, writeRecord } from './record.ts';
import { giveFolders, hasSeveralUsers, ownerOf } from './run-as.ts';
import { stopSignalOf } from '../pod/stop-signal.ts';
import { ACCOUNT_PATH, accountVolume, withAccountMount } from './service-account-volume.ts';
import { messageMount, messageRuleOf } from './termination-message.ts';

/** What one turn of work may use. */
export interface PodTurn {
  readonly sources: Sources;
  readonly events: EventWriter;
  readonly signal: AbortSignal;
}

const CONFIG_RETRY_MS = 2_000;
const LAUNCH_RETRY_MS = 10_000;
const RENEW_RETRY_MS = 10_000;

export const RELOCATABLE = 'reeve.dev/relocatable';

export class PodKeeper {
  readonly uid: string;
  readonly key: string;
  readonly notices = new Notices();
  readonly #node: NodeEnvironment;
  readonly #volumes: PodVolumes;
  readonly #containers = new Map<string, ContainerKeeper>();
  /** Containers whose newest run was begun by this process; the others were taken over. */
  readonly #begun = new Set<string>();
  #record: PodRecord;
  #obstacle: Obstacle | undefined;
  #hasAccount = false;
  #renewAt: number | undefined;

  /** `isNew`: this machine has never seen it. */
  constructor(node: NodeEnvironment, record: PodRecord, isNew = false) {
    const { metadata } = record.pod;
    this.#node = node;
    this.#record = record;
    this.uid = metadata.uid;
    this.key = `${metadata.namespace}/${metadata.name}`;
    this.#volumes = new PodVolumes({
      files: node.host.files,
      folder: join(this.folder, 'volumes'),
      hostPathRoots: node.facts.hostPathRoots,
      hostPathRemedy: node.hostPathRemedy,
      claimRoot: node.claimRoot,
      owner: ownerOf(node, record.pod),
      isRoot: node.host.user.uid === 0,
      isShared: hasSeveralUsers(node, record.pod),
    });
    for (const container of this.#all()) this.#containers.set(container.name, this.#containerKeeper(container, isNew));
  }

  get folder(): string {
    return this.#node.runs.podFolder(this.uid);
  }

  get pod(): StoredPod {
    return this.#record.pod;
  }

  get address(): string | undefined {
    return this.#record.address;
  }

  /** When a token must be asked for anew. Nobody needs one any more in a pod that ends. */
  get renewAt(): number | undefined {
    return this.#isEnding ? undefined : this.#renewAt;
  }

  get #isEnding(): boolean {
    return this.#record.stop !== undefined || isTerminal(this.pod);
  }

  /** It was put away: nothing of it is here but how its runs ended. */
  get isAway(): boolean {
    const { isPrepared, lost } = this.#record;
    return !isPrepared && lost !== undefined && ![...this.#containers.values()].some(({ isLive }) => isLive);
  }

  get containers(): ReadonlyMap<string, ContainerKeeper> {
    return this.#containers;
  }

  /** As the API server has it now. Written down where it says something new about the end of the pod. */
  async follow(pod: StoredPod): Promise<void> {
    const before = this.pod.metadata;
    this.#record = { ...this.#record, pod };
    if (pod.metadata.generation !== before.generation) await this.#saveIfRoom();
  }

  view(): PodView {
    const { address, since, stop, isPrepared } = this.#record;
    return {
      isPrepared,
      hostAddress: this.#node.facts.address,
      since,
      ...(address !== undefined && { address }),
      ...(this.#obstacle && { obstacle: this.#obstacle }),
      ...(stop && { stop }),
      containers: Object.fromEntries([...this.#containers].map(([name, keeper]) => [name, keeper.view()])),
    };
  }

  async refresh(): Promise<void> {
    for (const keeper of this.#containers.values()) await keeper.refresh();
  }

  /** True if there is something to look at, as far as the kernel's table says. */
  hasNews(isThorough: boolean): boolean {
    return [...this.#containers.values()].some((keeper) => keeper.hasNews(isThorough));
  }

  /** Something that it may have waited for is there. */
  hurry(): void {
    if (this.#obstacle) this.#obstacle = { ...this.#obstacle, retryAt: 0 };
    for (const keeper of this.#containers.values()) {
      const { obstacle } = keeper;
      if (obstacle && obstacle.waitMs === undefined) keeper.obstacle = { ...obstacle, retryAt: 0 };
    }
  }

  /** True if it changed something that the next decision should know. */
  async perform(action: PodAction, turn: PodTurn): Promise<boolean> {
    switch (action.type) {
      case 'prepare':
        await this.#prepare(turn);
        return true;
      case 'start':
        await this.#start(action.container, action.attempt, action.delayMs, turn);
        return true;
      case 'stop':
        return this.#stop(action.container, action.graceMs, action.why, turn);
      case 'kill':
        await this.#kill(action.container, action.attempt, turn);
        return false;
      case 'record-stop':
        this.#record = { ...this.#record, stop: action.stop };
        await this.#saveIfRoom();
        return false;
      case 'finish':
        return false; // the node's business: the object goes first
    }
  }

  /** Brings volumes up to date, and gives running containers their hooks and probes. */
  async tend(turn: PodTurn): Promise<void> {
    if (!this.#record.isPrepared || this.#isEnding) return;
    try {
      await this.#updateVolumes(turn);
    } catch (error) {
      if (!(error instanceof VolumeProblem)) throw error;
      turn.events.warning('FailedMount', error.message, 'Mounting'); // what was there stays
    }
    // Its account may be gone: a token that nobody gives is asked for again, but not at once.
    const now = this.#node.clock.now();
    if (this.#renewAt !== undefined && this.#renewAt <= now) this.#renewAt = now + RENEW_RETRY_MS;
    for (const container of this.#all()) {
      const keeper = this.#keeperOf(container.name);
      if (keeper.hasFloodedLog) this.notices.flooded(container.name, turn.events);
      keeper.hasFloodedLog = false;
      if (keeper.latest?.state !== 'running' || keeper.isAttended) continue;
      const isAdopted = !this.#begun.has(container.name);
      const postStart = hookOf(this.#node, this, container, 'postStart', turn.events);
      const probes = probesOf(this.#node, this, container, keeper, isAdopted, turn.events);
      keeper.attend(postStart, probes, isAdopted);
    }
  }

  /** Names of others have changed. In place: containers have the file itself. */
  async renewHosts(): Promise<void> {
    if (!this.#record.isPrepared) return;
    const text = this.#hostsText();
    const { files } = this.#node.host;
    if ((await files.read(hostsPath(this.folder))) !== text) await files.rewrite(hostsPath(this.folder), text);
  }

  /** Where the container's mounts lie on this machine. */
  async mountsOf(container: string, env: Readonly<Record<string, string>>): Promise<readonly Mount[]> {
    return this.#volumes.mountsOf(this.containerOf(container), env);
  }

  /** Ends whatever its runs left behind. True if there was nothing: its volumes may be somebody else's now. */
  sweep(): boolean {
    const { runs } = this.#node;
    return [...this.#containers.values()]
      .map((keeper) => keeper.latest === undefined || runs.kill(keeper.keyOf(keeper.latest.attempt), keeper.latest))
      .every((isQuiet) => isQuiet);
  }

  /** Nothing of it may run any more. */
  async remove(): Promise<void> {
    await this.#release();
    await this.#node.host.files.remove(this.folder);
  }

  /** Nothing of it may run any more. Only how its runs ended is kept, for the next node: the API server may not have heard of it. */
  async putAway(): Promise<void> {
    const latest = [...this.#containers].flatMap(([name, { latest: run }]) => (run ? [[name, run] as const] : []));
    if (latest.length === 0) return this.remove();
    await this.#release();
    this.#record = awayRecord(this.#record, new Map(latest));
    await keepOnly(this.#node.host.files, this.folder, this.#record);
  }

  async #release(): Promise<void> {
    await this.close();
    const { address } = this.#record;
    if (address !== undefined && address !== this.#node.facts.address) await this.#node.addresses.release(address);
  }

  /** Ends what goes on beside the containers, not the containers. */
  async close(): Promise<void> {
    await Promise.all([...this.#containers.values()].map((keeper) => keeper.close()));
    this.#begun.clear(); // if this process goes on with it, it takes it over from itself
  }

  save(): Promise<void> {
    return writeRecord(this.#node.host.files, this.folder, this.#record);
  }

  #saveIfRoom(): Promise<void> {
    return writeIfRoom(this.#node.host.files, this.folder, this.#record);
  }

  async #prepare(turn: PodTurn): Promise<void> {
    const { addresses, facts, host } = this.#node;
    try {
      this.#refuseSandbox();
      if (this.#record.address === undefined) {
        const address = this.pod.spec?.hostNetwork ? facts.address : await addresses.claim();
        this.#record = { ...this.#record, address };
      }
      await this.#updateVolumes(turn);
      await host.files.write(hostsPath(this.folder), this.#hostsText(), 0o644);
    } catch (error) {
      if (!(error instanceof VolumeProblem) && !(error instanceof SandboxProblem)) throw error;
      const isSandbox = error instanceof SandboxProblem;
      const reason = isSandbox ? error.reason : 'ContainerCreating';
      this.#obstacle = { reason, message: error.message, retryAt: this.#node.clock.now() + CONFIG_RETRY_MS };
      turn.events.warning(isSandbox ? error.reason : 'FailedMount', error.message, 'Mounting');
      return this.save(); // since when it waits, and its address
    }
    this.#record = { ...this.#record, isPrepared: true };
    this.#obstacle = undefined;
    this.notices.notHonoured(notHonoured(this.pod, this.#node.driver.hasMounts), turn.events);
    await this.save();
  }

  /** Without namespaces nothing can be mounted: only pods that say so can do without. */
  #refuseSandbox(): void {
    const { driver, sandboxRemedy } = this.#node;
    if (driver.hasMounts || this.pod.metadata.annotations?.[RELOCATABLE] === 'true') return;
    const mounted = this.#all().flatMap(({ volumeMounts = [] }) => volumeMounts.map(({ mountPath }) => mountPath));
    // The token, which nearly every pod has, is told by a variable, too.
    const paths = mounted.filter((path) => path !== ACCOUNT_PATH);
    if (paths.length === 0) return;
    throw new SandboxProblem(
      `this machine makes no mount namespaces for the node, so nothing can be mounted at ${[...new Set(paths)].join(', ')}: ` +
        `${sandboxRemedy}; or give the pod the annotation ${RELOCATABLE}: "true" if it takes its paths from command, args and env only`,
    );
  }

  async #updateVolumes({ sources }: PodTurn): Promise<void> {
    const { clock, facts } = this.#node;
    const turn = { pod: this.pod, sources, around: this.#surroundings(), now: clock.now() };
    const account =
      facts.apiServer && !facts.apiServer.givesTokens
        ? accountVolume(this.pod, facts.apiServer.ca !== undefined)
        : undefined;
    let renewAt: number | undefined;
    if (account) {
      try {
        renewAt = await this.#volumes.update([account], turn);
        this.#hasAccount = true;
      } catch (error) {
        if (!(error instanceof NoAccount)) throw error;
        // There is no such account: the pod runs without a token.
      }
    }
    this.#renewAt = (await this.#volumes.update(this.pod.spec?.volumes ?? [], turn)) ?? renewAt;
  }

  async #start(name: string, attempt: number, delayMs: number, turn: PodTurn): Promise<void> {
    const container = this.containerOf(name);
    const keeper = this.#keeperOf(name);
    const { driver, images, clock } = this.#node;
    const refuse = (obstacle: Obstacle, event: string, reason = 'Failed'): void => {
      keeper.obstacle = obstacle;
      turn.events.warning(reason, event, `Starting ${name}`);
    };
    const image = await images.resolve(container.image ?? '', turn.signal);
    if (!isResolved(image)) {
      const { obstacle, event } = pulling(container.image ?? '', image, keeper.obstacle, clock.now());
      if (!image.isComing) return refuse(obstacle, event ?? '');
      if (event !== undefined) turn.events.normal('Pulling', event, `Pulling ${name}`);
      keeper.obstacle = obstacle;
      return;
    }
    const { pullingSince } = keeper.obstacle ?? {};
    if (pullingSince !== undefined) {
      const text = pulledText(container.image ?? '', clock.now() - pullingSince);
      turn.events.normal('Pulled', text, `Pulling ${name}`);
    }
    try {
      this.#refuseSandbox(); // it may have been prepared for another driver
      const around = this.#surroundings();
      const hosts = driver.hasMounts && !this.pod.spec?.hostNetwork ? [hostsMount(this.folder)] : [];
      const message = messageMount(container, this.#node.runs.messagePath(keeper.keyOf(attempt)));
      if (message) await this.#node.host.files.write(message.source, '', 0o666);
      const more = [...hosts, ...(message ? [message] : [])];
      const { sources } = turn;
      const { pod } = this;
      const volumes = this.#volumes;
      const box = await boxOf({ node: this.#node, pod, container, image, around, volumes, sources, more });
      await giveFolders(this.#node, this.pod, container);
      const boxed = await driver.wrap(box);
      this.#begun.add(name);
      await keeper.start(attempt, {
        ...boxed,
        driver: driver.name,
        image: container.image ?? '',
        isBoxed: driver.hasMounts,
        workingDir: box.workingDir,
        delayMs,
      });
      turn.events.normal('Started', `Started container ${name}`, `Starting ${name}`);
    } catch (error) {
      const { message } = error as Error;
      const retryAt = clock.now() + CONFIG_RETRY_MS;
      if (error instanceof ConfigProblem || error instanceof VolumeProblem) {
        return refuse({ reason: 'CreateContainerConfigError', message, retryAt }, `Error: ${message}`);
      }
      if (error instanceof SandboxProblem)
        return refuse({ reason: error.reason, message, retryAt }, message, error.reason);
      if (isKubeError(error)) throw error;
      // The machine does not let it begin: too many processes, an environment that is too large, a full disk.
      const launch = {
        reason: 'RunContainerError',
        message,
        waitMs: LAUNCH_RETRY_MS,
        retryAt: clock.now() + LAUNCH_RETRY_MS,
      };
      refuse(launch, `Error: ${message}`);
    }
  }

  async #stop(name: string, graceMs: number, why: string, { events }: PodTurn): Promise<boolean> {
    const preStop = hookOf(this.#node, this, this.containerOf(name), 'preStop', events);
    const isNews = await this.#keeperOf(name).stop(graceMs, why, preStop);
    if (!isNews) return false;
    const { offence } = this.#keeperOf(name);
    const killing = `Killing ${name}`;
    if (offence && why === 'offence') events.warning(offence.reason, offence.message, killing);
    const notes: Readonly<Record<string, string>> = {
      [CHANGED]: `Container ${name} definition changed, will be restarted`,
      probe: `Container ${name} failed ${this.#failedProbe(name)} probe, will be restarted`,
    };
    events.normal('Killing', notes[why] ?? `Stopping container ${name}`, killing);
    return true;
  }

  async #kill(name: string, attempt: number, { events }: PodTurn): Promise<void> {
    const keeper = this.#keeperOf(name);
    const asked = keeper.latest?.stop; // a sidecar whose turn to be asked never came has exceeded nothing
    const { graceMs } = this.#record.stop ?? asked ?? {};
    if ((await keeper.kill()) && asked && graceMs !== undefined) this.notices.killed(name, attempt, graceMs, events);
  }

  #hostsText(): string {
    return hostsText(this.pod, this.address ?? '', this.#node.names(this.pod.metadata.namespace ?? ''));
  }

  #failedProbe(name: string): string {
    return this.#keeperOf(name).view().startup === 'failure' ? 'startup' : 'liveness';
  }

  #surroundings() {
    const { facts } = this.#node;
    const address = this.#record.address ?? facts.address;
    return { nodeName: facts.name, hostAddress: facts.address, address, allocatable: facts.capacity };
  }

  #all(): readonly PodContainer[] {
    return [...initsOf(this.pod), ...mainsOf(this.pod)];
  }

  /** With what every container gets. */
  containerOf(name: string): PodContainer {
    const found = this.#all().find((one) => one.name === name);
    if (!found) throw new Error(`pod ${this.key} has no container ${name}`);
    return this.#hasAccount ? withAccountMount(found) : found;
  }

  #keeperOf(name: string): ContainerKeeper {
    const keeper = this.#containers.get(name);
    if (!keeper) throw new Error(`pod ${this.key} has no container ${name}`);
    return keeper;
  }

  #containerKeeper(container: PodContainer, isNew: boolean): ContainerKeeper {
    const { clock, host, runs } = this.#node;
    const { name } = container;
    return new ContainerKeeper(
      this.uid,
      name,
      {
        clock,
        host,
        runs,
        entranceOf: (driver) => this.#node.entranceOf(driver),
        message: messageRuleOf(this.pod, container),
        stopSignal: stopSignalOf(container),
        wake: () => this.#node.wake(this.key),
      },
      this.#record.lost?.[name],
      isNew,
    );
  }
}
