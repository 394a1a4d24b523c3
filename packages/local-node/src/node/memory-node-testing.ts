/** A local node on a machine in memory and an API server in memory, on a clock that moves when told. */
import assert from 'node:assert/strict';
import type { Transport, TransportRequest, TransportResponse } from '@reeve/kube';
import { Manager } from '@reeve/runtime/manager';
import { countingIds, seededRandom, VirtualClock } from '@reeve/runtime/testing';
import { ApiWorld, snapshotOf } from '@reeve/simulation/api';
import { plainDriver } from '../driver/plain.ts';
import type { Host } from '../host/host.ts';
import { MemoryMachine } from '../host/memory-host-testing.ts';
import { hostImages } from '../image/images.ts';
import { type Pod, type PodSpec, pods } from '../kinds/pod.ts';
import { AddressPool } from './addresses.ts';
import { LocalNode } from './local-node.ts';
import { RELOCATABLE } from './pod-keeper.ts';

const STEP_MS = 100;
const MOST_STEPS = 600;
/** A worker that sleeps so shortly is on its way to the next turn at once. */
const HASTY_MS = 2;

export interface MemoryNode {
  readonly node: LocalNode;
  /** Ends the node, not its pods. */
  stop(): Promise<void>;
}

export class MemoryScene {
  readonly clock = new VirtualClock(Date.UTC(2026, 0, 1));
  readonly machine = new MemoryMachine(() => this.clock.now());
  readonly api: ApiWorld;
  /** Answers in place of the API server. */
  answer: (request: TransportRequest) => TransportResponse | undefined = () => undefined;
  /** Why a file cannot be written. */
  refusal: (path: string) => 'ENOSPC' | 'EIO' | undefined = () => undefined;
  /** How often somebody slept for a moment only. */
  hasty = 0;
  readonly #ids = countingIds();
  readonly #random = seededRandom(7);

  private constructor(api: ApiWorld) {
    this.api = api;
  }

  static async open(): Promise<MemoryScene> {
    // The clock of the server need not be that of the node.
    const clock = new VirtualClock(Date.UTC(2026, 0, 1));
    return new MemoryScene(await ApiWorld.open({ clock, random: seededRandom(7), snapshot: await snapshotOf({}) }));
  }

  get host(): Host {
    const { files, ...rest } = this.machine.host;
    const write: typeof files.write = async (path, ...more) => {
      const code = this.refusal(path);
      if (code !== undefined) throw Object.assign(new Error(`${code}: write`), { code });
      await files.write(path, ...more);
    };
    return { ...rest, files: { ...files, write } };
  }

  async start(): Promise<MemoryNode> {
    const node = await this.openNode();
    const stop = new AbortController();
    const running = new Manager(this.#ports(this.host), { name: 'n', transport: this.#transport })
      .add(node)
      .run(stop.signal);
    return {
      node,
      stop: async () => {
        stop.abort();
        await this.during(running);
      },
    };
  }

  /** One that no manager runs. */
  openNode(host = this.host): Promise<LocalNode> {
    return LocalNode.open(this.#ports(host), {
      folder: '/node',
      transport: this.#transport,
      addresses: new AddressPool(host.files, this.#random, '/addresses'),
      images: hostImages,
      drivers: [plainDriver],
      sandboxRemedy: '',
      facts: {
        name: 'n',
        labels: {},
        taints: [],
        capacity: {},
        address: '127.0.0.1',
        apiServer: undefined,
        hostPathRoots: [],
      },
    });
  }

  readonly #transport: Transport = async (request) => this.answer(request) ?? this.api.transport(request);

  #ports(host: Host) {
    const { clock } = this;
    const counted = {
      now: () => clock.now(),
      sleep: (ms: number, signal?: AbortSignal) => {
        if (ms <= HASTY_MS) this.hasty++;
        return clock.sleep(ms, signal);
      },
    };
    return { clock: counted, random: this.#random, ids: this.#ids, host };
  }

  async create(name: string, spec: Partial<PodSpec>): Promise<string> {
    const containers = spec.containers ?? [{ name: 'main', command: ['forever'] }];
    const withImage = <T extends object>(all: readonly T[] = []) => all.map((one) => ({ image: 'host', ...one }));
    const { metadata } = await this.api.client.resource(pods, 'default').create({
      metadata: { name, annotations: { [RELOCATABLE]: 'true' } },
      spec: {
        nodeName: 'n',
        ...spec,
        containers: withImage(containers),
        ...(spec.initContainers && { initContainers: withImage(spec.initContainers) }),
      },
    });
    return metadata.uid;
  }

  find(name: string): Pod | undefined {
    return this.api.find<Pod & { metadata: { uid: string } }>('pods', 'default', name);
  }

  isReady(name: string): boolean {
    const conditions = this.find(name)?.status?.conditions ?? [];
    return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  }

  async until(is: () => boolean, what: string): Promise<void> {
    for (let steps = 0; !is(); steps++) {
      assert.ok(steps < MOST_STEPS, `${what}: ${this.machine.running.join(' ')}`);
      await this.clock.advance(STEP_MS);
    }
  }

  /** Time passes until it is done. */
  async during<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const done = work.finally(() => (isDone = true));
    done.catch(() => undefined);
    await this.until(() => isDone, 'it is done');
    return done;
  }

  /** What began, as container and attempt, in order. */
  begun(uid: string): readonly string[] {
    return this.machine.begun.flatMap((cookie) =>
      cookie.includes(uid) ? [cookie.slice(cookie.indexOf(uid) + uid.length + 1)] : [],
    );
  }
}
