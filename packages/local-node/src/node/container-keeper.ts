/** One container of a pod on this node: its runs, and what goes on beside them (hooks, probes). */
import type { Clock } from '@reeve/runtime';
import type { Entrance } from '../driver/driver.ts';
import type { Host, ProcessRow } from '../host/host.ts';
import { isNoRoom } from '../host/no-room.ts';
import type { ContainerView, Obstacle } from '../pod/view.ts';
import { type Instance, lostRun, type StopRecord } from '../shim/instance.ts';
import type { Begin, RunKey, Runs } from '../shim/runs.ts';
import type { RunProbes, Verdicts } from '../probe/run-probes.ts';
import { type MessageRule, readMessage } from './termination-message.ts';

export interface ContainerPorts {
  readonly clock: Clock;
  readonly host: Host;
  readonly runs: Runs;
  entranceOf(driver: string): Entrance;
  readonly message: MessageRule;
  /** By which it is asked to end. */
  readonly stopSignal: NodeJS.Signals;
  /** Something is new: the pod is to be looked at. */
  wake(): void;
}

/** How a hook of a container is carried out; rejects if it failed. */
export type Hook = (signal: AbortSignal) => Promise<void>;

const MOST_KEPT_RUNS = 2;
const SETTLING_MS = 200;

export class ContainerKeeper {
  readonly name: string;
  readonly #uid: string;
  readonly #ports: ContainerPorts;
  #latest: Instance | undefined;
  #previous: Instance | undefined;
  readonly #lost: Instance | undefined;
  #isLoaded = false;
  #begunAt = 0;
  obstacle: Obstacle | undefined;
  offence: ContainerView['offence'];
  /** Its log had become too long and was emptied; nobody was told yet. */
  hasFloodedLog = false;
  #postStart: ContainerView['postStart'];
  #probes: RunProbes | undefined;
  #around: AbortController | undefined;
  #asked: number | undefined;
  /** How it was asked to end, where there was no room to write that down. */
  #minded: StopRecord | undefined;
  readonly #jobs = new Set<Promise<void>>();

  /** `lost`: the run to go on from where there is none on this machine. `isNew`: nothing of it can be there. */
  constructor(uid: string, name: string, ports: ContainerPorts, lost: Instance | undefined, isNew: boolean) {
    this.#uid = uid;
    this.name = name;
    this.#ports = ports;
    this.#lost = lost;
    this.#isLoaded = isNew;
    if (isNew) this.#latest = lost;
  }

  get latest(): Instance | undefined {
    return this.#latest;
  }

  get previous(): Instance | undefined {
    return this.#previous;
  }

  get isLive(): boolean {
    return this.#latest?.state === 'starting' || this.#latest?.state === 'running';
  }

  /** It was begun a moment ago and is about to say who it is: in a moment more will be known. */
  get isSettling(): boolean {
    return this.#latest?.state === 'starting' && this.#ports.clock.now() - this.#begunAt < SETTLING_MS;
  }

  keyOf(attempt: number): RunKey {
    return { uid: this.#uid, container: this.name, attempt };
  }

  view(): ContainerView {
    const verdicts: Verdicts = this.#probes?.verdicts ?? {};
    return {
      ...(this.#latest && { latest: this.#latest }),
      ...(this.#previous && { previous: this.#previous }),
      ...verdicts,
      ...(this.#postStart && { postStart: this.#postStart }),
      ...(this.offence && { offence: this.offence }),
      ...(this.obstacle && { obstacle: this.obstacle }),
    };
  }

  /** Looks at the newest run. */
  async refresh(): Promise<void> {
    if (!this.#isLoaded) await this.#load();
    else await this.#look();
  }

  async #look(): Promise<void> {
    if (!this.isLive || !this.#latest) return;
    const before = this.#latest;
    const { runs, clock } = this.#ports;
    const now = await runs.read(this.keyOf(before.attempt), false, this.#minded);
    // Its folder is gone only if somebody took it away: its end will never be heard of, so it is ended here, before another begins.
    this.#latest = await this.#told(
      now ?? lostRun(before, clock.now(), 'The folder of the container was removed while it ran.'),
    );
    if (this.#latest?.state === 'ended') this.#settle(this.#latest);
  }

  /**
   * True if the newest run is not what it was when last looked at. Costs one look at the kernel's table, which is saved where an end
   * would be told, unless it is a thorough look.
   */
  hasNews(isThorough: boolean): boolean {
    const latest = this.#latest;
    if (latest?.state !== 'running' || !latest.main) return latest?.state === 'starting';
    if (!isThorough && this.#ports.runs.isHeard(this.keyOf(latest.attempt))) return false;
    return !this.#ports.runs.isAlive(latest.main);
  }

  async start(attempt: number, begin: Begin): Promise<void> {
    const { runs, wake, host } = this.#ports;
    this.#close();
    if (this.#latest?.state === 'ended') this.#previous = this.#latest;
    this.#asked = undefined;
    this.#minded = undefined;
    this.obstacle = undefined;
    this.offence = undefined;
    if (attempt >= MOST_KEPT_RUNS) {
      const old = this.keyOf(attempt - MOST_KEPT_RUNS);
      for (const path of [runs.runFolder(old), runs.messagePath(old)]) await host.files.remove(path);
    }
    this.#begunAt = this.#ports.clock.now();
    await runs.begin(this.keyOf(attempt), begin, wake);
    const run = await runs.read(this.keyOf(attempt));
    this.#latest = run && (await this.#told(run));
    if (this.#latest?.state === 'ended') this.#settle(this.#latest);
  }

  /** Once the run is there: its hook, and its probes. */
  attend(hook: Hook | undefined, probes: (() => RunProbes) | undefined, isAdopted: boolean): void {
    if (this.#latest?.state !== 'running' || this.#around) return;
    this.#around = new AbortController();
    this.#probes = probes?.();
    if (!hook) return;
    if (isAdopted) {
      this.#postStart = 'done'; // it ran when the container began; nobody says how often a hook may run
      return;
    }
    const { signal } = this.#around;
    this.#postStart = 'running';
    this.#job(
      hook(signal).then(
        () => this.#hooked(signal, 'done'),
        () => this.#hooked(signal, 'failed'),
      ),
    );
  }

  get isAttended(): boolean {
    return this.#around !== undefined;
  }

  /** The program itself, wherever it is. */
  main(table = this.#ports.host.processes.all()): ProcessRow | undefined {
    const { main, driver, state } = this.#latest ?? {};
    if (!main || driver === undefined || state !== 'running') return undefined;
    return this.#ports.entranceOf(driver).mainOf(main, table);
  }

  /** Asks the run to end: written down, hook, signal. True if nobody asked it before. */
  async stop(graceMs: number, why: string, preStop: Hook | undefined): Promise<boolean> {
    const latest = this.#latest;
    if (!latest || !this.isLive || this.#asked === latest.attempt) return false;
    const { runs, clock } = this.#ports;
    const stop = { at: clock.now(), graceMs, why };
    if (!latest.stop)
      await runs.recordStop(this.keyOf(latest.attempt), stop).catch((error: unknown) => this.#mind(stop, error));
    this.#asked = latest.attempt; // from now on, and not if that failed: it would never be asked
    const around = this.#around ?? new AbortController();
    this.#around = around;
    this.#job(this.#terminate(latest.attempt, preStop, around.signal));
    await this.refresh();
    return true;
  }

  /** Ends everything of the run. True if there was something to end. */
  async kill(): Promise<boolean> {
    const latest = this.#latest;
    if (!latest) return false;
    const isQuiet = this.#ports.runs.kill(this.keyOf(latest.attempt), latest);
    await this.refresh();
    return !isQuiet;
  }

  /** Stops what goes on beside the runs, not the runs. */
  async close(): Promise<void> {
    this.#close();
    this.#asked = undefined; // whoever goes on asks again
    await Promise.all(this.#jobs);
  }

  /** On a full disk, too, it ends in its time. A node that comes after this one asks again, with the whole time. */
  #mind(stop: StopRecord, error: unknown): void {
    if (!isNoRoom(error)) throw error;
    this.#minded = stop;
  }

  async #terminate(attempt: number, preStop: Hook | undefined, signal: AbortSignal): Promise<void> {
    // A hook that fails is no reason not to go on.
    if (preStop) await preStop(signal).catch(() => undefined);
    if (signal.aborted || this.#latest?.attempt !== attempt) return;
    const main = this.main();
    if (main) this.#ports.host.processes.signal(main, this.#ports.stopSignal);
    // It has just begun and is not to be found yet: what there is of it ends.
    else this.#ports.runs.kill(this.keyOf(attempt), this.#latest);
  }

  #hooked(signal: AbortSignal, outcome: 'done' | 'failed'): void {
    if (signal.aborted) return;
    this.#postStart = outcome;
    this.#ports.wake();
  }

  async #load(): Promise<void> {
    const { runs, host } = this.#ports;
    const attempts = await runs.attemptsOf(this.keyOf(0));
    const newest = attempts.at(-1);
    if (this.#lost && (newest ?? 0) <= this.#lost.attempt) {
      // What is still there was to go when that was written: a node died over it.
      this.#isLoaded = true;
      this.#latest = this.#lost;
      return;
    }
    const latest = newest === undefined ? undefined : await runs.read(this.keyOf(newest), true);
    this.#isLoaded = true;
    if (newest !== undefined && (!latest || latest.state === 'void')) {
      await host.files.remove(runs.runFolder(this.keyOf(newest)));
      this.#isLoaded = false;
      return this.#load();
    }
    this.#latest = latest && (await this.#told(latest));
    const before = attempts.at(-2);
    const previous = before === undefined ? undefined : await runs.read(this.keyOf(before), true);
    this.#previous = previous && (await this.#told(previous));
    if (latest?.state === 'ended') this.#settle(latest);
  }

  /** With what the program has to say about its end. */
  async #told(run: Instance): Promise<Instance> {
    const { end, attempt } = run;
    if (!end || end.message !== undefined) return run;
    const { runs, host, message: rule } = this.#ports;
    const key = this.keyOf(attempt);
    const from = { file: runs.messagePath(key), log: runs.logPath(key) };
    const message = await readMessage(host.files, rule, from, end.code);
    return message === undefined ? run : { ...run, end: { ...end, message } };
  }

  /** Whoever it left behind ends with it. */
  #settle(ended: Instance): void {
    this.#close();
    this.#ports.runs.kill(this.keyOf(ended.attempt), ended);
  }

  #close(): void {
    this.#around?.abort(new Error('the run is over'));
    this.#around = undefined;
    this.#probes?.close();
    this.#probes = undefined;
    this.#postStart = undefined;
  }

  #job(job: Promise<void>): void {
    // Whatever it was that failed: the next look decides anew.
    const safe: Promise<void> = job.catch(() => this.#ports.wake()).finally(() => this.#jobs.delete(safe));
    this.#jobs.add(safe);
  }
}
