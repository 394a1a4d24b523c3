/** A manager on the API server for tests, with a kind `Thing` and its children. */
import assert from 'node:assert/strict';
import { type KubeObject, resource } from '@reeve/kube';
import type { Condition } from '../conditions/conditions.ts';
import type { Runnable } from '../controller/controller.ts';
import { constantRandom, settled, VirtualClock } from '../ports/virtual-clock-testing.ts';
import { TestApi } from './api-testing.ts';
import { Manager, type ManagerOptions } from './manager.ts';
import { countingIds } from './setup-testing.ts';

export interface Thing extends KubeObject {
  readonly spec?: { readonly size?: number; readonly paused?: boolean };
  readonly status?: {
    readonly size?: number;
    readonly conditions?: readonly Condition[];
    readonly waitingFor?: readonly object[];
    readonly observedGeneration?: number;
  };
}

export interface Part extends KubeObject {
  readonly spec?: { readonly number?: number };
}

const inTests = { group: 'test.dev', version: 'v1', namespaced: true } as const;
export const things = resource<Thing>({ ...inTests, plural: 'things', kind: 'Thing' });
export const parts = resource<Part>({ ...inTests, plural: 'parts', kind: 'Part' });

export function start(
  controllers: readonly Runnable[],
  options: Partial<ManagerOptions> = {},
  around: { api?: TestApi; clock?: VirtualClock } = {},
) {
  const clock = around.clock ?? new VirtualClock();
  const api = around.api ?? new TestApi();
  const lines: string[] = [];
  const ports = { clock, random: constantRandom(0), ids: countingIds() };
  const manager = new Manager(ports, {
    name: 'test',
    transport: api.transport,
    log: (message, fields) => lines.push(`${message} ${JSON.stringify(fields)}`),
    ...options,
  });
  for (const one of controllers) manager.add(one);
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  let error: unknown;
  running.catch((thrown: unknown) => (error = thrown));
  return {
    clock,
    api,
    manager,
    lines,
    stop,
    running,
    error: () => error,
    /** Moves the clock, and lets everything that only waits for answers come to rest before and after. */
    async advance(ms: number) {
      await rest();
      await clock.advance(ms);
      await rest();
    },
    /** Ends in order; whatever it takes on the clock. What a reconcile threw was a failed assertion, unless it was meant to. */
    async end(meant = /^$/) {
      stop.abort();
      await rest();
      await clock.advance(40_000);
      await running;
      await rest();
      const bugs = lines.filter((line) => line.startsWith('a reconcile failed') && line.includes('"INTERNAL"'));
      assert.deepEqual(
        bugs.filter((line) => !meant.test(line)),
        [],
      );
    },
  };
}

/** Long enough for a few requests one after the other. */
export async function rest(): Promise<void> {
  for (let i = 0; i < 10; i++) await settled();
}

/** How often a metric with these labels was counted. */
export function metricOf(manager: Manager, start: string): number {
  const line = manager
    .metrics()
    .split('\n')
    .find((one) => one.startsWith(start));
  return line === undefined ? 0 : Number(line.slice(line.lastIndexOf(' ') + 1));
}
