/** The control plane of one machine, in this process: API server, controllers, scheduler, nodes. Pods outlive it. */
import { join } from 'node:path';
import {
  AccessControl,
  ApiServer,
  type Listener,
  listen,
  openSigningKey,
  openTokensFile,
  type PodAccess,
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
  type HostFiles,
  type Images,
  LocalNode,
  type NodeFacts,
  PROVISIONER,
  systemDirectories,
} from '@reeve/local-node';
import type { RedisOperatorPorts } from '@reeve/redis';
import { asReeveError } from '@reeve/runtime';
import { Manager } from '@reeve/runtime/manager';
import { openCertificates, serverNames, type ServingCertificates } from '../certificates/authority.ts';
import { type DataFolder, openSystemFolder } from './data-folder.ts';
import { planeRunning, tellHolder } from './holder.ts';
import { kubeconfigText, portOf } from './kubeconfig.ts';
import { listenOn } from './listen-on.ts';
import { type Machine, nodeFacts, type NodesWanted, retiredFacts } from './machine.ts';
import { addOperators, installAgentRules, installKinds } from '../operators/operators.ts';
import { withOwnPaths } from './own-paths.ts';
import { podAccess } from './pod-access.ts';
import { registered as waitForNodes } from './registered.ts';
import { refuseHalfRestored } from './restore.ts';
import { type RetiredNode, retireNodes } from './retired-nodes.ts';
import { snapshotOf } from './system-snapshot.ts';

export interface ControlPlaneOptions extends NodesWanted {
  /** An absolute path. */
  readonly data: string;
  /** Default: any that is free. */
  readonly port: number | undefined;
  /** Default: the best that works here. */
  readonly driver: DriverName | undefined;
  readonly machine: Machine;
  readonly images: Images;
  /** Told of what nobody foresaw. */
  readonly onError: (error: unknown) => void;
  readonly log: (message: string, fields: object) => void;
}

export interface ControlPlanePorts extends RedisOperatorPorts {
  readonly host: Host;
}

const HOST_PATH_REMEDY = 'start `reeve up` with --host-path FOLDER to allow one';
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
  /** Those that are wanted, then those that are left of before. */
  readonly nodes: readonly LocalNode[];
  readonly retired: readonly RetiredNode[];
  /** How many of the nodes the API server knows. */
  readonly registered: number;
  readonly detected: Detected;
  readonly transport: Transport;
  /** Resolves when somebody asks it to end with all its pods. */
  readonly downAsked: Promise<void>;
  readonly #stopWork: () => Promise<void>;
  readonly #closing: AsyncDisposableStack;

  private constructor(
    parts: Pick<
      ControlPlane,
      'url' | 'folder' | 'nodes' | 'retired' | 'registered' | 'detected' | 'transport' | 'downAsked'
    >,
    stopWork: () => Promise<void>,
    closing: AsyncDisposableStack,
  ) {
    this.url = parts.url;
    this.folder = parts.folder;
    this.nodes = parts.nodes;
    this.retired = parts.retired;
    this.registered = parts.registered;
    this.detected = parts.detected;
    this.transport = parts.transport;
    this.downAsked = parts.downAsked;
    this.#stopWork = stopWork;
    this.#closing = closing;
  }

  /** Resolves when requests are served and all nodes run. */
  static async open(ports: ControlPlanePorts, options: ControlPlaneOptions): Promise<ControlPlane> {
    await using closing = new AsyncDisposableStack();
    const { files, host, clock, random } = ports;
    const folder = await openSystemFolder(files, options.data, host.user);
    const nodes: LocalNode[] = [];
    const pods = podAccess((name) => nodes.find((node) => node.nodeName === name));
    let metrics = () => '';
    const { server, listener, token, certificates, downAsked } = await openServer(
      ports,
      folder,
      pods,
      () => metrics(),
      options,
      closing,
    );
    const transport = server.transport();
    const client = new KubeClient({ clock, random, transport });
    await makeDefaultClass(client);
    await installKinds(client);
    await installAgentRules(client);
    const url = listener.url.origin;
    const { ca } = certificates;
    await files.write(folder.kubeconfig, kubeconfigText({ url, token, ca }));
    const detected = await detectDrivers({ clock, host }, join(folder.path, 'drivers'), options.driver);
    if (host.user.uid === 0) await letOthersPass(host.files, folder);
    const addresses = new AddressPool(host.files, random, folder.addresses);
    const apiServer = { host: listener.url.hostname, port: Number(listener.url.port), ca, givesTokens: true };
    const openNode = (facts: NodeFacts) =>
      LocalNode.open(ports, {
        facts,
        folder: join(folder.nodes, facts.name),
        volumes: folder.volumes,
        transport,
        addresses,
        images: options.images,
        drivers: detected.drivers,
        sandboxRemedy: detected.remedy,
        hostPathRemedy: HOST_PATH_REMEDY,
        log: options.log,
      });
    const expected = nodeFacts(options.machine, options, apiServer);
    for (const facts of expected) nodes.push(await openNode(facts));
    const retired = await retireNodes({
      files: host.files,
      client,
      folder: folder.nodes,
      wanted: nodes.map(({ nodeName }) => nodeName),
      open: (name) => openNode(retiredFacts(name, options.machine, options, apiServer)),
    });
    nodes.push(...retired.map(({ node }) => node));
    const manager = new Manager(ports, { name: 'reeve', transport, log: options.log, budget: controlPlaneBudget });
    metrics = () => manager.measures.registry.text();
    const directories = systemDirectories(folder.volumes);
    addControlPlane(manager, { clock, client, directories, rootCa: ca, log: options.log });
    for (const node of nodes) manager.add(node);
    addOperators(manager, ports, folder.backups);
    const stop = new AbortController();
    const running = manager.run(stop.signal);
    running.catch(options.onError);
    const stopWork = async (): Promise<void> => {
      stop.abort();
      await running;
    };
    closing.defer(stopWork);
    const registered = (await Promise.race([running, waitForNodes(client, clock, expected)])) ?? 0;
    const parts = { url, folder, nodes, retired, registered, detected, transport, downAsked };
    return new ControlPlane(parts, stopWork, closing.move());
  }

  /** Ends the pods, each within its own time. Nothing else goes on from then on; the next control plane begins them anew. */
  async endPods(signal: AbortSignal): Promise<void> {
    await this.#stopWork();
    await Promise.all(this.nodes.map((node) => node.endPods(signal)));
  }

  /** Ends everything but the pods. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#closing.disposeAsync();
  }
}

interface OpenServer {
  readonly server: ApiServer;
  readonly listener: Listener;
  readonly token: string;
  readonly certificates: ServingCertificates;
  readonly downAsked: Promise<void>;
}

async function openServer(
  ports: ControlPlanePorts,
  folder: DataFolder,
  pods: PodAccess,
  metrics: () => string,
  { port, onError }: ControlPlaneOptions,
  closing: AsyncDisposableStack,
): Promise<OpenServer> {
  const { clock, random, files, host } = ports;
  const journal = sqliteJournal({ path: folder.store });
  const store = await Store.open({ journal, clock, onError }).catch(async (error: unknown) => {
    throw asReeveError(error).code === 'EMBEDDED_STORE_LOCKED' ? await planeRunning(host, folder) : error;
  });
  closing.defer(() => store.close());
  await tellHolder(host, folder, 'up');
  // Not before the store is ours: a restore that begins now finds it taken.
  await refuseHalfRestored(files, folder);
  await host.files.remove(folder.snapshots);
  const tokens = await openTokensFile(folder.tokens, ADMINISTRATOR);
  const keys = [await openSigningKey(folder.signingKey)] as const;
  const certificates = await openCertificates({ clock, files }, folder);
  const access = closing.use(new AccessControl({ store, clock, random, keys, tokens }));
  const server = await ApiServer.open({ store, clock, random, access, pods, serviceAccounts: true, onError });
  closing.defer(() => server.close());
  await access.install(server.transport(), onError);
  const { promise: downAsked, resolve: down } = Promise.withResolvers<void>();
  const own = { down, metrics, backup: () => snapshotOf(journal, join(folder.snapshots, ports.ids.next('store'))) };
  const known = portOf((await files.read(folder.kubeconfig)) ?? '');
  const listener = closing.use(
    await listenOn({ wished: port, known }, (at) =>
      listen({
        handle: withOwnPaths((request) => server.handle(request), own),
        connect: (request) => server.connect(request),
        tls: { cert: certificates.cert, key: certificates.key },
        hosts: serverNames.dns,
        onError,
        port: at,
      }),
    ),
  );
  return { server, listener, token: tokens[0].token, certificates, downAsked };
}

/** Pods that run as somebody else, without mounts: through these to what is theirs, and to nothing else. */
async function letOthersPass(files: HostFiles, { nodes, volumes }: DataFolder): Promise<void> {
  for (const folder of [nodes, volumes]) {
    await files.makeFolder(folder);
    await files.setMode(folder, 0o711);
  }
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
