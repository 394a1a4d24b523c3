/** Defaults of pods and of the pod templates in other kinds. In the real server they are code, not schema. */
import { type Draft, isObject, type JsonObject, integerOf, objectOf, textOf } from '../../object/draft.ts';
import { selectable } from '../kind.ts';
import { each, fill, fillText, maybe, within } from './fill.ts';

const MODE = 0o644;
const PROBES = ['livenessProbe', 'readinessProbe', 'startupProbe'];
const CONTAINERS = ['initContainers', 'containers', 'ephemeralContainers'];

export function defaultPodSpec(spec: JsonObject): void {
  if (!spec.serviceAccountName && textOf(spec.serviceAccount) !== '')
    spec.serviceAccountName = textOf(spec.serviceAccount);
  if (textOf(spec.serviceAccountName) !== '') spec.serviceAccount = textOf(spec.serviceAccountName);
  fillText(spec, { dnsPolicy: 'ClusterFirst', restartPolicy: 'Always', schedulerName: 'default-scheduler' });
  fill(spec, { securityContext: {}, terminationGracePeriodSeconds: 30 });
  for (const container of CONTAINERS.flatMap((field) => each(spec, field))) defaultContainer(container);
  for (const volume of each(spec, 'volumes')) defaultVolume(volume);
}

function defaultContainer(container: JsonObject): void {
  fillText(container, {
    imagePullPolicy: isLatest(textOf(container.image)) ? 'Always' : 'IfNotPresent',
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
  });
  fill(container, { resources: {} });
  for (const port of each(container, 'ports')) fillText(port, { protocol: 'TCP' });
  for (const env of each(container, 'env')) {
    for (const ref of maybe(objectOf(env.valueFrom), 'fieldRef')) fillText(ref, { apiVersion: 'v1' });
  }
  for (const probe of PROBES.flatMap((field) => maybe(container, field))) defaultProbe(probe);
  for (const hook of ['postStart', 'preStop'].flatMap((field) => maybe(objectOf(container.lifecycle), field))) {
    for (const get of maybe(hook, 'httpGet')) defaultHttpGet(get);
  }
}

function defaultProbe(probe: JsonObject): void {
  const values = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
  for (const [field, value] of Object.entries(values)) if (!probe[field]) probe[field] = value;
  for (const get of maybe(probe, 'httpGet')) defaultHttpGet(get);
  for (const grpc of maybe(probe, 'grpc')) fill(grpc, { service: '' });
}

const defaultHttpGet = (get: JsonObject): void => fillText(get, { path: '/', scheme: 'HTTP' });

function defaultVolume(volume: JsonObject): void {
  if (Object.keys(volume).every((field) => field === 'name' || volume[field] === null)) volume.emptyDir = {};
  for (const field of ['secret', 'configMap', 'downwardAPI', 'projected']) {
    for (const source of maybe(volume, field)) fill(source, { defaultMode: MODE });
  }
  for (const path of maybe(volume, 'hostPath')) fill(path, { type: '' });
  for (const item of maybe(volume, 'downwardAPI').flatMap((source) => each(source, 'items'))) {
    for (const ref of maybe(item, 'fieldRef')) fillText(ref, { apiVersion: 'v1' });
  }
  for (const source of maybe(volume, 'projected').flatMap((projected) => each(projected, 'sources'))) {
    for (const token of maybe(source, 'serviceAccountToken')) fill(token, { expirationSeconds: 3600 });
    for (const item of maybe(source, 'downwardAPI').flatMap((one) => each(one, 'items'))) {
      for (const ref of maybe(item, 'fieldRef')) fillText(ref, { apiVersion: 'v1' });
    }
  }
  for (const template of maybe(objectOf(volume.ephemeral), 'volumeClaimTemplate')) {
    fillText(within(template, 'spec'), { volumeMode: 'Filesystem' });
  }
}

/** No tag is the tag `latest`; a digest is none. */
function isLatest(image: string): boolean {
  if (image === '' || image.includes('@')) return false;
  const name = image.slice(image.lastIndexOf('/') + 1);
  return !name.includes(':') || name.endsWith(':latest');
}

/** Only of pods, not of templates. */
export function defaultPod(pod: Draft): void {
  const spec = within(pod, 'spec');
  defaultPodSpec(spec);
  fill(spec, { enableServiceLinks: true });
  for (const status of maybe(pod, 'status')) {
    if (textOf(status.podIP) !== '') fill(status, { podIPs: [{ ip: textOf(status.podIP) }] });
  }
  if ((integerOf(spec.terminationGracePeriodSeconds) ?? 0) < 0) spec.terminationGracePeriodSeconds = 1;
  for (const container of [...each(spec, 'containers'), ...each(spec, 'initContainers')]) {
    const resources = objectOf(container.resources);
    if (isObject(resources.limits)) fill(within(resources, 'requests'), objectOf(resources.limits));
    if (spec.hostNetwork !== true) continue;
    for (const port of each(container, 'ports')) if (!port.hostPort) port.hostPort = port.containerPort ?? 0;
  }
}

/** What admission adds to a new pod: its priority, and for how long it bears a node that is not ready. */
export function admitPod(pod: Draft): void {
  const spec = within(pod, 'spec');
  if (textOf(spec.priorityClassName) === '') fill(spec, { priority: 0, preemptionPolicy: 'PreemptLowerPriority' });
  const tolerations = each(spec, 'tolerations');
  const missing = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'].filter(
    (taint) => !tolerations.some(({ key, effect }) => (!key || key === taint) && (!effect || effect === 'NoExecute')),
  );
  if (missing.length === 0) return;
  const added = missing.map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }));
  spec.tolerations = [...tolerations, ...added];
}

/** The class that decides who is killed first when memory is short. */
export function qosClass(pod: Draft): string {
  const spec = objectOf(pod.spec);
  let isGuaranteed = true;
  let hasAny = false;
  for (const container of [...each(spec, 'containers'), ...each(spec, 'initContainers')]) {
    const limits = objectOf(objectOf(container.resources).limits);
    const requests = objectOf(objectOf(container.resources).requests);
    for (const name of ['cpu', 'memory']) {
      const [limit, request] = [selectable(limits[name]), selectable(requests[name])];
      if (limit !== '' || request !== '') hasAny = true;
      if (limit === '' || limit !== request) isGuaranteed = false;
    }
  }
  return hasAny ? (isGuaranteed ? 'Guaranteed' : 'Burstable') : 'BestEffort';
}
