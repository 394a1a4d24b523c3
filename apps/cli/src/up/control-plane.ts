/** The control plane of one machine, in this process: API server, controllers, scheduler, nodes. Pods outlive it. */
import { join } from 'node:path';
import {
  AccessControl,
  ApiServer,
  type Listener,
  listen,
  openSigningKey,
  openTokensFile,
  sqliteJournal,
  Store,
} from '@reeve/embedded';
import { isKubeError, KubeClient, resource, type Transport } from '@reeve/kube';
import {
  addControlPlane,
  AddressPool,
  controlPlaneBudget,
  type Detected,
  detectDrivers,
  type DriverName,
  type Host,
  hostImages,
  LocalNode,
  PROVISIONER,
  systemDirectories,
} from '@reeve/local-node';
import type { Ports } from '@reeve/runtime';
import { Manager } from '@reeve/runtime/manager';
import { type DataFolder, openDataFolder } from './data-folder.ts';
import { kubeconfigText } from './kubeconfig.ts';
import { type Machine, nodeFacts, type NodesWanted } from './machine.ts';

export interface ControlPlaneOptions extends NodesWanted {
  /** An absolute path. */
  readonly data: string;
  /** Default: any that is free. */
  readonly port: number | undefined;
  /** Default: the best that works here. */
  readonly driver: DriverName | undefined;
  readonly machine: Machine;
  /** Told of what nobody foresaw. */
  readonly onError: (error: unknown) => void;
  readonly log: (message: string, fields: object) => void;
}

export interface ControlPlanePorts extends Ports {
  readonly host: Host;
}

const ADMINISTRATOR = { name: 'reeve-admin', groups: ['system:masters'] };
const storageClasses = resource({
  group: 'storage.k8s.io',
  version: 'v1',
  plural: 'storageclasses',
  kind: 'StorageClass',
  namespaced: false,
});

export class ControlPlane implements AsyncDisposable {
  readonly url: string;
  readonly folder: DataFolder;
  readonly nodes: readonly LocalNode[];
  readonly detected: Detected;
  readonly transport: Transport;
  readonly #closing: AsyncDisposableStack;

  private constructor(
    parts: Pick<ControlPlane, 'url' | 'folder' | 'nodes' | 'detected' | 'transport'>,
    closing: AsyncDisposableStack,
  ) {
    this.url = parts.url;
    this.folder = parts.folder;
    this.nodes = parts.nodes;
    this.detected = parts.detected;
    this.transport = parts.transport;
    this.#closing = closing;
  }

  /** Resolves when requests are served and all nodes run. */
  static async open(ports: ControlPlanePorts, options: ControlPlaneOptions): Promise<ControlPlane> {
    await using closing = new AsyncDisposableStack();
    const { files, host, clock, random } = ports;
    const folder = await openDataFolder(files, options.data);
    const { server, listener, token } = await openServer(ports, folder, options, closing);
    const transport = server.transport();
    const client = new KubeClient({ clock, random, transport });
    await makeDefaultClass(client);
    const url = listener.url.origin;
    await files.write(folder.kubeconfig, kubeconfigText({ url, token }));
    const detected = await detectDrivers({ clock, host }, join(folder.path, 'drivers'), options.driver);
    const addresses = new AddressPool(host.files, random, folder.addresses);
    const apiServer = { host: listener.url.hostname, port: Number(listener.url.port) };
    const nodes: LocalNode[] = [];
    for (const facts of nodeFacts(options.machine, options, apiServer)) {
      const own = {
        facts,
        folder: join(folder.nodes, facts.name),
        volumes: folder.volumes,
        transport,
        addresses,
        images: hostImages,
        drivers: detected.drivers,
        sandboxRemedy: detected.remedy,
        log: options.log,
      };
      nodes.push(await LocalNode.open(ports, own));
    }
    const manager = new Manager(ports, { name: 'reeve', transport, log: options.log, budget: controlPlaneBudget });
    const directories = systemDirectories(folder.volumes);
    addControlPlane(manager, { clock, client, directories, log: options.log });
    for (const node of nodes) manager.add(node);
    const stop = new AbortController();
    const running = manager.run(stop.signal);
    running.catch(options.onError);
    closing.defer(async () => {
      stop.abort();
      await running;
    });
    return new ControlPlane({ url, folder, nodes, detected, transport }, closing.move());
  }

  /** Ends everything but the pods. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#closing.disposeAsync();
  }
}

async function openServer(
  { clock, random }: ControlPlanePorts,
  folder: DataFolder,
  { port, onError }: ControlPlaneOptions,
  closing: AsyncDisposableStack,
): Promise<{ readonly server: ApiServer; readonly listener: Listener; readonly token: string }> {
  const store = await Store.open({ journal: sqliteJournal({ path: folder.store }), clock, onError });
  closing.defer(() => store.close());
  const tokens = await openTokensFile(folder.tokens, ADMINISTRATOR);
  const keys = [await openSigningKey(folder.signingKey)] as const;
  const access = closing.use(new AccessControl({ store, clock, random, keys, tokens }));
  const server = await ApiServer.open({ store, clock, random, access, onError });
  closing.defer(() => server.close());
  await access.install(server.transport(), onError);
  const listener = closing.use(
    await listen({ handle: (request) => server.handle(request), onError, ...(port === undefined ? {} : { port }) }),
  );
  return { server, listener, token: tokens[0].token };
}

/** Claims that name no class get a folder of the data folder. A class that a person changed is left as it is. */
async function makeDefaultClass(client: KubeClient): Promise<void> {
  const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' };
  try {
    await client.resource(storageClasses).create({
      metadata: { name: 'local', annotations },
      provisioner: PROVISIONER,
      volumeBindingMode: 'WaitForFirstConsumer',
      reclaimPolicy: 'Retain',
    });
  } catch (error) {
    if (!isKubeError(error, 'KUBE_ALREADY_EXISTS')) throw error;
  }
}
