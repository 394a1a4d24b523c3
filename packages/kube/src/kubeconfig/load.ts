/** Finds and merges kubeconfig files as kubectl does, and picks a context. */
import { delimiter, dirname, join, resolve } from 'node:path';
import { KubeError } from '../errors/errors.ts';
import type { KubePorts } from '../ports/ports.ts';
import { inCluster } from './in-cluster.ts';
import { anonymous, type Kubeconfig, type ResolvedContext } from './kubeconfig.ts';
import { readKubeconfig } from './read.ts';

export interface LoadOptions {
  /** One file instead of KUBECONFIG and `~/.kube/config`; it must exist. */
  readonly file?: string;
  /** Default: the current context of the files. */
  readonly context?: string;
  /** Default: the context's, then `default`. */
  readonly namespace?: string;
}

type LoadPorts = Pick<KubePorts, 'files' | 'env' | 'home'>;

/** The files named by KUBECONFIG (those that are missing count as empty) or the one in the home folder. */
export async function loadKubeconfig(ports: LoadPorts, file?: string): Promise<Kubeconfig> {
  const listed = (ports.env.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '');
  const paths = file !== undefined ? [file] : listed.length > 0 ? listed : [join(ports.home, '.kube', 'config')];
  const configs: Kubeconfig[] = [];
  for (const path of new Set(paths)) {
    const text = await readFile(ports, path);
    if (text !== undefined) configs.push(readKubeconfig(text, path, dirname(resolve(path))));
    else if (file !== undefined) {
      throw new KubeError('KUBECONFIG_MISSING', `there is no kubeconfig ${path}`, { subjects: [path] });
    }
  }
  return mergeKubeconfigs(configs);
}

async function readFile({ files }: LoadPorts, path: string): Promise<string | undefined> {
  try {
    return await files.read(path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new KubeError('KUBECONFIG_INVALID', `cannot read ${path}: ${reason}`, { subjects: [path], cause: error });
  }
}

/** The first file to name something wins, whole entries only. */
export function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  const merge = <T>(maps: readonly ReadonlyMap<string, T>[]): ReadonlyMap<string, T> =>
    new Map(maps.toReversed().flatMap((map) => [...map]));
  return {
    currentContext: configs.find(({ currentContext }) => currentContext !== undefined)?.currentContext,
    clusters: merge(configs.map(({ clusters }) => clusters)),
    users: merge(configs.map(({ users }) => users)),
    contexts: merge(configs.map(({ contexts }) => contexts)),
  };
}

/** The context to use: of the files, or, when they say nothing and we run in a pod, the pod's own. */
export async function loadContext(ports: LoadPorts, options: LoadOptions = {}): Promise<ResolvedContext> {
  const config = await loadKubeconfig(ports, options.file);
  const empty = config.contexts.size === 0 && config.clusters.size === 0 && config.currentContext === undefined;
  if (empty && options.file === undefined && options.context === undefined) {
    const pod = await inCluster(ports);
    if (pod) return options.namespace === undefined ? pod : { ...pod, namespace: options.namespace };
  }
  return resolveContext(config, options);
}

export function resolveContext(config: Kubeconfig, options: LoadOptions = {}): ResolvedContext {
  const name = options.context ?? config.currentContext;
  if (name === undefined) {
    throw new KubeError('KUBECONFIG_MISSING', 'no kubeconfig names a current context, and this is not a pod');
  }
  const invalid = (problem: string): KubeError =>
    new KubeError('KUBECONFIG_INVALID', `context '${name}': ${problem}`, { subjects: [name] });
  const context = config.contexts.get(name);
  if (!context) throw invalid('there is no such context');
  const cluster = config.clusters.get(context.cluster);
  if (!cluster) throw invalid(`there is no cluster '${context.cluster}'`);
  const user = context.user === undefined ? anonymous : config.users.get(context.user);
  if (!user) throw invalid(`there is no user '${context.user}'`);
  const { server } = cluster;
  if (!URL.canParse(server) || !['http:', 'https:'].includes(new URL(server).protocol)) {
    throw invalid(`its server '${server}' is not an http or https address`);
  }
  if (cluster.insecure && cluster.ca) {
    throw invalid('insecure-skip-tls-verify and a certificate authority exclude each other');
  }
  if ((user.certificate === undefined) !== (user.key === undefined)) {
    throw invalid('a client certificate and its key belong together, one is missing');
  }
  const unsupported = (what: string): KubeError =>
    new KubeError('KUBECONFIG_UNSUPPORTED', `context '${name}': ${what}`, { subjects: [name] });
  if (cluster.proxyUrl !== undefined) throw unsupported('proxy-url is not supported');
  if (user.authProvider !== undefined) {
    throw unsupported(`the auth-provider '${user.authProvider}' is not supported: use an exec plugin`);
  }
  return { name, namespace: options.namespace ?? context.namespace ?? 'default', cluster, user };
}
