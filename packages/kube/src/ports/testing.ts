/** Ports for tests: files in a map, a clock that moves when told, a spawn that is a function. */
import type { KubePorts, Spawn } from './ports.ts';

export interface TestPorts extends KubePorts {
  readonly texts: Map<string, string>;
  advance(ms: number): Promise<void>;
}

export function testPorts(
  given: {
    readonly texts?: Readonly<Record<string, string>>;
    readonly env?: Readonly<Record<string, string>>;
    readonly spawn?: Spawn;
    readonly interactive?: boolean;
  } = {},
): TestPorts {
  const texts = new Map(Object.entries(given.texts ?? {}));
  let now = Date.parse('2026-01-01T00:00:00Z');
  let sleepers: { readonly at: number; readonly wake: () => void }[] = [];
  return {
    texts,
    clock: {
      now: () => now,
      sleep: (ms, signal) =>
        new Promise((resolve, reject) => {
          if (signal?.aborted) return reject(signal.reason);
          sleepers.push({ at: now + ms, wake: resolve });
          signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
        }),
    },
    random: { next: () => 0.5 },
    files: { read: async (path) => texts.get(path) },
    spawn: given.spawn ?? (() => Promise.reject(new Error('nothing to spawn'))),
    env: given.env ?? {},
    home: '/h',
    interactive: given.interactive ?? false,
    async advance(ms) {
      now += ms;
      const due = sleepers.filter(({ at }) => at <= now);
      sleepers = sleepers.filter(({ at }) => at > now);
      for (const { wake } of due) wake();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}
