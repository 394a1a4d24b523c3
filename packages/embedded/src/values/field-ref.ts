/** References from a container or a volume to fields of its own pod. */
import { qualifiedName } from '../object/names.ts';
import type { Part } from './part.ts';

const OF_ENV = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];
const OF_VOLUMES = ['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid'];
const RESOURCES = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];
/** What there is at all, wherever it may be used. */
const KNOWN = [...new Set([...OF_ENV, ...OF_VOLUMES, 'spec.restartPolicy', 'spec.schedulerName', 'status.phase'])];

export function checkFieldRef(ref: Part, use: 'env' | 'volume'): void {
  const [version, path] = [ref.text('apiVersion'), ref.text('fieldPath')];
  if (version === '') return ref.missing('apiVersion');
  if (path === '') return ref.missing('fieldPath');
  const [, name = path, key] = /^(.*)\['(.*)'\]$/.exec(path) ?? [];
  const why = version === 'v1' ? unreadable(path, name, key) : `unsupported pod version: ${version}`;
  if (why !== undefined) return ref.wrong('fieldPath', path, `error converting fieldPath: ${why}`);
  // The real server means the whole reference.
  if (key !== undefined) {
    const lower = name === 'metadata.annotations' ? key.toLowerCase() : key;
    return ref.isWrong(lower, ...qualifiedName(lower));
  }
  const supported = use === 'env' ? OF_ENV : OF_VOLUMES;
  if (!supported.includes(name)) ref.unsupported('fieldPath', name, supported);
}

function unreadable(path: string, name: string, key: string | undefined): string | undefined {
  if (key !== undefined) {
    const hasKeys = name === 'metadata.annotations' || name === 'metadata.labels';
    return hasKeys ? undefined : `field label does not support subscript: ${path}`;
  }
  return KNOWN.includes(path) ? undefined : `field label not supported: ${path}`;
}

export function checkResourceFieldRef(ref: Part, isVolume: boolean): void {
  const resource = ref.text('resource');
  if (isVolume && ref.text('containerName') === '') ref.missing('containerName');
  else if (resource === '') ref.missing('resource');
  else if (!RESOURCES.includes(resource) && !/^(?:limits|requests)\.hugepages-/.test(resource)) {
    ref.unsupported('resource', resource, RESOURCES);
  }
}
