/** What a server serves: from group and kind to the descriptor that calls need. */
import type { KubeClient } from '../client/client.ts';
import type { CallOptions } from '../client/options.ts';
import { isKubeError } from '../errors/errors.ts';
import { apiPath, type Resource, resource } from '../object/resource.ts';

export interface KindName {
  /** Empty for the core group. */
  readonly group: string;
  /** Default: the one that the server prefers. */
  readonly version?: string;
  readonly kind: string;
}

export interface ServedResource extends Resource {
  readonly verbs: readonly string[];
  /** `status`, `scale` … */
  readonly subresources: readonly string[];
  /** Empty where the server does not say. */
  readonly singular: string;
  readonly shortNames: readonly string[];
}

/** Undefined when the kind is not installed (yet); every other failure is thrown. */
export async function discover(
  client: Pick<KubeClient, 'read'>,
  { group, version, kind }: KindName,
  options: CallOptions = {},
): Promise<ServedResource | undefined> {
  const served = version ?? (await preferredVersion(client, group, options));
  if (served === undefined) return undefined;
  return (await resourcesOf(client, group, served, options)).find((one) => one.kind === kind);
}

/** Everything that is served, each group in the version that the server prefers. The core group comes first. */
export async function servedResources(
  client: Pick<KubeClient, 'read'>,
  options: CallOptions = {},
): Promise<readonly ServedResource[]> {
  const { groups = [] } = (await client.read('/apis', options)) as unknown as {
    readonly groups?: readonly Group[];
  };
  const places = groups.flatMap(({ name, preferredVersion }) =>
    name !== undefined && preferredVersion ? [{ group: name, version: preferredVersion.version }] : [],
  );
  const lists = [{ group: '', version: 'v1' }, ...places].map(({ group, version }) =>
    resourcesOf(client, group, version, options),
  );
  return (await Promise.all(lists)).flat();
}

/** All resources of one version of a group; none when it is not served. */
export async function resourcesOf(
  client: Pick<KubeClient, 'read'>,
  group: string,
  version: string,
  options: CallOptions = {},
): Promise<readonly ServedResource[]> {
  const list = (await readIfThere(client, apiPath({ group, version }), options)) as ResourceList | undefined;
  const rows = list?.resources ?? [];
  return rows
    .filter(({ name }) => !name.includes('/'))
    .map(({ name, kind, namespaced, verbs, singularName, shortNames }) => ({
      ...resource({ group, version, plural: name, kind, namespaced }),
      verbs: verbs ?? [],
      singular: singularName ?? '',
      shortNames: shortNames ?? [],
      subresources: rows.filter((row) => row.name.startsWith(`${name}/`)).map((row) => row.name.slice(name.length + 1)),
    }));
}

async function preferredVersion(
  client: Pick<KubeClient, 'read'>,
  group: string,
  options: CallOptions,
): Promise<string | undefined> {
  if (group === '') return 'v1';
  const path = `/apis/${encodeURIComponent(group)}`;
  return ((await readIfThere(client, path, options)) as Group | undefined)?.preferredVersion?.version;
}

async function readIfThere(client: Pick<KubeClient, 'read'>, path: string, options: CallOptions): Promise<unknown> {
  try {
    return await client.read(path, options);
  } catch (error) {
    if (isKubeError(error, 'KUBE_NOT_FOUND')) return undefined;
    throw error;
  }
}

interface Group {
  readonly name?: string;
  readonly preferredVersion?: { readonly version: string };
}

interface ResourceList {
  readonly resources?: readonly {
    readonly name: string;
    readonly kind: string;
    readonly namespaced: boolean;
    readonly verbs?: readonly string[];
    readonly singularName?: string;
    readonly shortNames?: readonly string[];
  }[];
}
