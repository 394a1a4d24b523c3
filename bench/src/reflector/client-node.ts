/**
 * `@kubernetes/client-node`: its informer, whose watch waits for a word. It is not installed with the workspace (bench/opponents/client-node);
 * what is used of it is described here.
 */
import { COLLECTIONS, NAMESPACE, type ResourceName } from '../kubernetes/objects.ts';
import { Count } from '../process/count.ts';
import { ready, serveFollower } from '../process/follower.ts';
import { heapBeforeList } from '../process/usage.ts';

interface Listed {
  readonly metadata?: { managedFields?: unknown };
}

interface List {
  readonly items: Listed[];
}

interface Informer {
  start(): Promise<void>;
  list(namespace: string): readonly Listed[];
  on(verb: 'change', told: (object: Listed) => void): void;
  on(verb: 'error', told: (error: unknown) => void): void;
}

type WatchCall = (...args: readonly unknown[]) => Promise<AbortController>;

interface Config {
  loadFromFile(file: string): void;
  makeApiClient<T>(api: new () => T): T;
}

interface ClientNode {
  readonly KubeConfig: new () => Config;
  readonly Watch: new (config: Config) => { watch: WatchCall };
  readonly ListWatch: new (path: string, watch: object, list: () => Promise<List>, autoStart: boolean) => Informer;
  readonly CoreV1Api: new () => { listNamespacedPod(of: object): Promise<List> };
  readonly CustomObjectsApi: new () => { listNamespacedCustomObject(of: object): Promise<List> };
}

const [kubeconfig = '', name = '', module = '', strip = ''] = process.argv.slice(2);
const resource = name as ResourceName;
const library = (await import(module)) as ClientNode;
const config = new library.KubeConfig();
config.loadFromFile(kubeconfig);

const gate = Promise.withResolvers<void>();
const listed = Promise.withResolvers<void>();
const watch = new library.Watch(config);
const watchNow = watch.watch.bind(watch);
watch.watch = async (...args) => {
  listed.resolve();
  await gate.promise;
  return watchNow(...args);
};

function list(more: { readonly limit?: number } = {}): Promise<List> {
  if (resource === 'pods')
    return config.makeApiClient(library.CoreV1Api).listNamespacedPod({ namespace: NAMESPACE, ...more });
  const of = { group: 'bench.reeve.dev', version: 'v1', namespace: NAMESPACE, plural: resource, ...more };
  return config.makeApiClient(library.CustomObjectsApi).listNamespacedCustomObject(of);
}

const informer = new library.ListWatch(COLLECTIONS[resource], watch, () => list(), false);
const count = new Count();
informer.on('change', (object) => {
  // Assigned, not deleted: a deletion would make the object larger.
  if (strip === 'strip' && object.metadata) object.metadata.managedFields = undefined;
  count.add();
});
informer.on('error', (error) => {
  console.error(error);
  process.exit(1);
});
const heapBefore = await heapBeforeList(() => list({ limit: 1_000 }));
void informer.start();
await listed.promise;
ready(heapBefore);
await serveFollower({ count, objects: () => informer.list(NAMESPACE).length, open: () => gate.resolve() });
