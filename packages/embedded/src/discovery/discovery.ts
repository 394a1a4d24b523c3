/** What is served, told to clients: groups, versions, resources. */
import { createHash } from 'node:crypto';
import { compareVersionNames } from '../kinds/custom.ts';
import type { Kind, KindVersion } from '../kinds/kind.ts';
import type { Registry } from '../kinds/registry.ts';
import { noSuchPath } from '../status/refusal.ts';

export function apiVersions(): object {
  return {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [],
  };
}

export function apiGroups({ kinds }: Registry): object {
  const groups = [...new Set(kinds.map(({ group }) => group))].filter((group) => group !== '');
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map((group) => groupOf(kinds, group)) };
}

export function apiGroup({ kinds }: Registry, group: string): object {
  if (group === '' || !kinds.some((kind) => kind.group === group)) throw noSuchPath();
  return { kind: 'APIGroup', apiVersion: 'v1', ...groupOf(kinds, group) };
}

function groupOf(kinds: readonly Kind[], group: string) {
  const names = new Set(
    kinds.filter((kind) => kind.group === group).flatMap(({ versions }) => versions.map(({ name }) => name)),
  );
  const versions = [...names]
    .sort(compareVersionNames)
    .map((version) => ({ groupVersion: `${group}/${version}`, version }));
  return { name: group, versions, preferredVersion: versions[0] };
}

/** @param hasPods whether there is somebody who runs pods */
export function apiResources(registry: Registry, group: string, version: string, hasPods: boolean): object {
  if (!registry.has(group, version)) throw noSuchPath();
  const kinds = registry.kinds.filter((kind) => kind.group === group);
  // Built-in groups are told in order, custom ones as they come.
  const isCustom = kinds.every(({ custom }) => custom);
  const resources = kinds.flatMap((kind) => {
    const found = kind.versions.find(({ name }) => name === version);
    return found === undefined ? [] : resourcesOf(kind, found, hasPods);
  });
  const sorted = isCustom ? resources : resources.sort((a, b) => (a.name < b.name ? -1 : 1));
  const groupVersion = group === '' ? version : `${group}/${version}`;
  return { kind: 'APIResourceList', ...(group === '' ? {} : { apiVersion: 'v1' }), groupVersion, resources: sorted };
}

function resourcesOf(kind: Kind, version: KindVersion, hasPods: boolean) {
  const { plural, singular, namespaced, shortNames, categories } = kind;
  const below = (name: string, verbs: readonly string[], more: object = {}) => ({
    name: `${plural}/${name}`,
    singularName: '',
    namespaced,
    ...more,
    kind: kind.kind,
    verbs,
  });
  const scale = { group: 'autoscaling', version: 'v1' };
  return [
    {
      name: plural,
      singularName: singular,
      namespaced,
      kind: kind.kind,
      verbs: kind.verbs,
      ...(shortNames.length === 0 ? {} : { shortNames }),
      ...(categories.length === 0 ? {} : { categories }),
      ...(kind.verbs.includes('get') ? { storageVersionHash: storageHash(kind) } : {}),
    },
    ...(version.status ? [below('status', ['get', 'patch', 'update'])] : []),
    ...(version.scale ? [{ ...below('scale', ['get', 'patch', 'update'], scale), kind: 'Scale' }] : []),
    ...(version.others ?? []).map((name) => below(name, ['update'])),
    ...(hasPods ? (version.connects ?? []) : []).map(({ name, kind: of, verbs }) => ({
      ...below(name, verbs),
      kind: of,
    })),
  ];
}

/** By it clients tell whether an object would be stored in another form than before. */
function storageHash({ group, kind, stored, versions, storageVersion = versions[0]?.name }: Kind): string {
  // Events of two groups are stored as those of one.
  const storedGroup = stored.includes('.') ? group : '';
  const text = `${storedGroup}/${storageVersion}/${kind}`;
  return createHash('sha256').update(text).digest().subarray(0, 8).toString('base64');
}

/** The version of Kubernetes whose behaviour is served. */
export const versionInfo: Readonly<Record<string, string>> = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.3-reeve',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: 'node',
  platform: 'any',
};
