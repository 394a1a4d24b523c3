/** What a pod may be told about itself. Pure. */
import { inUnitsOf, parseQuantity } from '../kinds/quantity.ts';
import type { PodContainer } from './progress.ts';
import type { StoredPod } from './view.ts';

export interface Surroundings {
  readonly nodeName: string;
  readonly hostAddress: string;
  readonly address: string;
  /** What a container without a limit may have: that of the node. */
  readonly allocatable: Readonly<Record<string, string>>;
}

/** Undefined: there is no such field. */
export function fieldOf(pod: StoredPod, path: string, around: Surroundings): string | undefined {
  const { metadata, spec } = pod;
  const [, map, key] = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(path) ?? [];
  if (map !== undefined && key !== undefined) return metadata[map as 'labels' | 'annotations']?.[key] ?? '';
  switch (path) {
    case 'metadata.name':
      return metadata.name;
    case 'metadata.namespace':
      return metadata.namespace ?? '';
    case 'metadata.uid':
      return metadata.uid;
    case 'metadata.labels':
      return lines(metadata.labels);
    case 'metadata.annotations':
      return lines(metadata.annotations);
    case 'spec.nodeName':
      return around.nodeName;
    case 'spec.serviceAccountName':
      return spec?.serviceAccountName ?? 'default';
    case 'status.hostIP':
    case 'status.hostIPs':
      return around.hostAddress;
    case 'status.podIP':
    case 'status.podIPs':
      return around.address;
    default:
      return undefined;
  }
}

function lines(map: Readonly<Record<string, string>> | undefined): string {
  return Object.entries(map ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join('\n');
}

export interface ResourceField {
  readonly containerName?: string | undefined;
  readonly resource: string;
  readonly divisor?: string | undefined;
}

/** Undefined: no such container or resource. */
export function resourceOf(
  containers: readonly PodContainer[],
  self: string | undefined,
  { containerName, resource, divisor }: ResourceField,
  around: Surroundings,
): string | undefined {
  const container = containers.find(({ name }) => name === (containerName ?? self));
  const [kind, ...rest] = resource.split('.');
  const name = rest.join('.');
  if (!container || (kind !== 'limits' && kind !== 'requests')) return undefined;
  const { limits, requests } = container.resources ?? {};
  const own = kind === 'limits' ? limits?.[name] : (requests?.[name] ?? limits?.[name]);
  const text = own ?? (kind === 'limits' ? around.allocatable[name] : '0');
  const amount = text === undefined ? undefined : parseQuantity(text);
  return amount === undefined ? undefined : inUnitsOf(amount, divisor);
}
