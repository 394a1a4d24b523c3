/** One node process: alive until it has done so many things to the machine or the API server; then nothing answers it any more. */
import type { Transport } from '@reeve/kube';
import type { Clock } from '@reeve/runtime';
import type { Host, HostFiles, Processes } from '../host/host.ts';

const never = () => new Promise<never>(() => undefined);

export class Life {
  done = 0;
  isDead = false;
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  async effect<T>(work: () => Promise<T>): Promise<T> {
    if (this.isDead) return never();
    const result = await work();
    if (++this.done === this.#most) this.isDead = true;
    return this.isDead ? never() : result;
  }

  async look<T>(work: () => Promise<T>): Promise<T> {
    return this.isDead ? never() : work();
  }

  clock(clock: Clock): Clock {
    return {
      now: () => clock.now(),
      sleep: async (ms, signal) => {
        await clock.sleep(ms, signal);
        if (this.isDead) await never();
      },
    };
  }

  transport(transport: Transport): Transport {
    return (request) => {
      const send = async () => transport(request);
      return request.method === 'GET' ? this.look(send) : this.effect(send);
    };
  }

  host({ files, processes, ...rest }: Host): Host {
    const changes: readonly (keyof HostFiles)[] = [
      'write',
      'rewrite',
      'claim',
      'makeFolder',
      'link',
      'move',
      'remove',
      'truncate',
    ];
    const wrapped = Object.fromEntries(
      Object.entries(files).map(([name, work]) => [
        name,
        (...args: readonly unknown[]) => {
          const call = () => (work as (...all: readonly unknown[]) => Promise<unknown>)(...args);
          return changes.includes(name as keyof HostFiles) ? this.effect(call) : this.look(call);
        },
      ]),
    );
    const ours: Processes = {
      ...processes,
      bootId: () => this.look(() => processes.bootId()),
      launch: (request, ended) => this.effect(() => processes.launch(request, ended)),
      signal: (id, signal) => {
        const wasThere = !this.isDead && processes.signal(id, signal);
        if (!this.isDead && ++this.done === this.#most) this.isDead = true;
        return wasThere;
      },
    };
    return { ...rest, files: wrapped as unknown as HostFiles, processes: ours };
  }
}
