/** Defaults of kinds that make no pods. */
import { type Draft, objectOf, textOf } from '../../object/draft.ts';
import { hasNodePorts, isExternal } from '../../services/service.ts';
import { each, fill, fillText, maybe, within } from './fill.ts';

const RBAC = 'rbac.authorization.k8s.io';

/** Three hours. */
const AFFINITY_SECONDS = 10_800;

export function defaultService(service: Draft): void {
  const spec = within(service, 'spec');
  fillText(spec, { sessionAffinity: 'None', type: 'ClusterIP' });
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
  if (spec.sessionAffinity === 'ClientIP') {
    const { timeoutSeconds } = objectOf(objectOf(spec.sessionAffinityConfig).clientIP);
    if (typeof timeoutSeconds !== 'number') {
      spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: AFFINITY_SECONDS } };
    }
  }
  for (const port of each(spec, 'ports')) {
    fillText(port, { protocol: 'TCP' });
    if (!port.targetPort && port.port !== undefined) port.targetPort = port.port;
  }
  if (isExternal(spec)) fillText(spec, { externalTrafficPolicy: 'Cluster' });
  if (hasNodePorts(spec) || spec.type === 'ClusterIP') fillText(spec, { internalTrafficPolicy: 'Cluster' });
  if (spec.type === 'LoadBalancer') {
    fill(spec, { allocateLoadBalancerNodePorts: true });
    const balancer = objectOf(objectOf(service.status).loadBalancer);
    for (const ingress of each(balancer, 'ingress')) if (textOf(ingress.ip) !== '') fill(ingress, { ipMode: 'VIP' });
  }
}

/** What came as text is stored as base64, and never sent back as text. */
export function defaultSecret(secret: Draft): void {
  fillText(secret, { type: 'Opaque' });
  const texts = Object.entries(objectOf(secret.stringData));
  delete secret.stringData;
  if (texts.length === 0) return;
  const data = within(secret, 'data');
  for (const [key, text] of texts) data[key] = Buffer.from(textOf(text)).toString('base64');
}

export function defaultVolume(volume: Draft): void {
  const spec = within(volume, 'spec');
  fillText(spec, { persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem' });
  for (const path of maybe(spec, 'hostPath')) fill(path, { type: '' });
}

export function defaultNamespace(namespace: Draft): void {
  const spec = within(namespace, 'spec');
  const finalizers = Array.isArray(spec.finalizers) ? spec.finalizers : [];
  if (!finalizers.includes('kubernetes')) spec.finalizers = [...finalizers, 'kubernetes'];
}

/** One whose name is still to be made has to wait for it. */
export function labelNamespace(namespace: Draft): void {
  if (textOf(namespace.metadata.name) === '') return;
  within(namespace.metadata, 'labels')['kubernetes.io/metadata.name'] = textOf(namespace.metadata.name);
}

export function defaultBinding(binding: Draft): void {
  fillText(within(binding, 'roleRef'), { apiGroup: RBAC });
  for (const subject of each(binding, 'subjects')) {
    if (subject.kind === 'User' || subject.kind === 'Group') fillText(subject, { apiGroup: RBAC });
    else if (subject.apiGroup === '') delete subject.apiGroup;
  }
}

export function defaultPriorityClass(priority: Draft): void {
  fill(priority, { preemptionPolicy: 'PreemptLowerPriority' });
}

export function defaultEndpoints(endpoints: Draft): void {
  for (const port of each(endpoints, 'subsets').flatMap((subset) => each(subset, 'ports'))) {
    fillText(port, { protocol: 'TCP' });
  }
}

export function defaultSlice(slice: Draft): void {
  for (const endpoint of each(slice, 'endpoints')) fill(endpoint, { conditions: {} });
  for (const port of each(slice, 'ports')) {
    fillText(port, { protocol: 'TCP' });
    fill(port, { name: '' });
  }
}

/** The real server stores no empty lists. */
export function prepareSlice(slice: Draft): void {
  if (Array.isArray(slice.endpoints) && slice.endpoints.length === 0) slice.endpoints = null;
}

/** Go writes these even when they are empty. */
export function defaultEvent(event: Draft): void {
  event.eventTime ??= null;
  fill(event, { reportingComponent: '', reportingInstance: '' });
}

export function defaultStorageClass(storage: Draft): void {
  fillText(storage, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' });
}
