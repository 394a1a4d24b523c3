/** A server in this process for tests: memory, a clock that moves when told, a client of ours. */
import { type AnyObject, KubeClient, KubeError, type Resource, resource, type Status } from '@reeve/kube';
import { memoryJournal } from '../store/journal.ts';
import { Store, type StoreOptions } from '../store/store.ts';
import { ApiServer, type ServerOptions } from './server.ts';

export const pods = resource({ group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true });
export const configMaps = resource({
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
});
export const namespaces = resource({
  group: '',
  version: 'v1',
  plural: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
});
export const crds = resource({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
});
export const statefulSets = resource({
  group: 'apps',
  version: 'v1',
  plural: 'statefulsets',
  kind: 'StatefulSet',
  namespaced: true,
});
/** The least that a stateful set must say. */
export const setSpec = {
  selector: { matchLabels: { app: 'x', a: 'b' } },
  template: { metadata: { labels: { app: 'x', a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
};

export const widgets = resource({
  group: 'example.com',
  version: 'v1',
  plural: 'widgets',
  kind: 'Widget',
  namespaced: true,
});

export function testClock(start = Date.parse('2026-01-01T00:00:00Z')) {
  let now = start;
  let sleepers: { readonly at: number; readonly wake: () => void }[] = [];
  return {
    now: () => now,
    sleep: (ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const sleeper = { at: now + ms, wake: resolve };
        sleepers.push(sleeper);
        const onAbort = () => {
          sleepers = sleepers.filter((one) => one !== sleeper);
          reject(signal?.reason);
        };
        signal?.addEventListener('abort', onAbort, { once: true });
      }),
    async advance(ms: number): Promise<void> {
      await turn();
      const end = now + ms;
      for (;;) {
        const next = sleepers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        now = Math.max(now, next.at);
        sleepers = sleepers.filter((one) => one !== next);
        next.wake();
        await turn();
      }
      now = end;
      await turn();
    },
    /** How many wait. */
    waiting: () => sleepers.length,
  };
}

/** Lets everything happen that needs no time. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A small generator: the same sequence in every test. */
export function testRandom(seed = 1) {
  let state = seed;
  return {
    next: () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state / 2 ** 32;
    },
  };
}

export async function openServer(
  options: Partial<ServerOptions> & { readonly history?: StoreOptions['history'] } = {},
) {
  const clock = testClock();
  const random = testRandom();
  const { history, ...rest } = options;
  const store = await Store.open({ journal: memoryJournal(), clock, ...(history ? { history } : {}) });
  const errors: unknown[] = [];
  const server = await ApiServer.open({ store, clock, random, onError: (error) => errors.push(error), ...rest });
  // Retries would wait for a clock that stands still.
  const client = new KubeClient({ transport: server.transport(), clock, random, retries: 0 });
  const of = <T extends AnyObject>(what: Resource<T>, namespace = 'default') =>
    client.resource(what, what.namespaced ? namespace : undefined);
  return { server, store, clock, client, of, errors, request: rawRequest(server) };
}

/** A request as it is, with the answer read. */
export function rawRequest(server: ApiServer) {
  return async (
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) => {
    const text = typeof body === 'string' ? body : body === undefined ? undefined : JSON.stringify(body);
    const response = await server.transport()({ method, path, headers, ...(text === undefined ? {} : { body: text }) });
    const chunks: Uint8Array[] = [];
    if (response.body instanceof Uint8Array) chunks.push(response.body);
    else for await (const chunk of response.body) chunks.push(chunk);
    const answer = Buffer.concat(chunks).toString();
    return { status: response.status, headers: response.headers, text: answer, json: parsed(answer) };
  };
}

function parsed(text: string): AnyObject & Status {
  try {
    return JSON.parse(text) as AnyObject & Status;
  } catch {
    return { metadata: {}, kind: 'Status', apiVersion: 'v1', message: text };
  }
}

/** The Status that a call is refused with. */
export async function refused(call: Promise<unknown>): Promise<Status> {
  try {
    await call;
  } catch (error) {
    if (error instanceof KubeError && error.status) return error.status;
    throw error;
  }
  throw new Error('nothing was refused');
}

export const widgetDefinition = (more: object = {}, version: object = {}): AnyObject => ({
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget', shortNames: ['wd'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        ...version,
      },
    ],
    ...more,
  },
});
