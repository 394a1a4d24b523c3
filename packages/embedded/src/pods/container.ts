/** Which container of a pod is meant, and whether it has something to tell. In the words of the real server and its kubelet. Pure. */
import { type Draft, isObject, type JsonObject, objectOf, textOf } from '../object/draft.ts';
import { badRequest, type Refusal } from '../status/refusal.ts';

/** In the order in which the server goes through them. */
const CONTAINERS = ['initContainers', 'containers', 'ephemeralContainers'];
const STATUSES = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'];

const listOf = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** The one that was named, or the only one. Throws if it is not clear. */
export function containerOf(pod: Draft, wanted: string): string {
  const spec = objectOf(pod.spec);
  const name = textOf(pod.metadata.name);
  const all = CONTAINERS.flatMap((field) => listOf(spec[field])).map((one) => textOf(one.name));
  if (wanted !== '') {
    if (all.includes(wanted)) return wanted;
    throw badRequest(`container ${wanted} is not valid for pod ${name}`);
  }
  const [only, ...more] = listOf(spec.containers);
  if (only && more.length === 0) return textOf(only.name);
  const choices = only ? `, choose one of: [${all.join(' ')}]` : '';
  throw badRequest(`a container name must be specified for pod ${name}${choices}`);
}

function statusOf(pod: Draft, container: string): JsonObject | undefined {
  const status = objectOf(pod.status);
  return STATUSES.flatMap((field) => listOf(status[field])).find((one) => one.name === container);
}

const hasRun = (state: JsonObject): boolean => textOf(objectOf(state.terminated).containerID) !== '';

/** Why there is no log to read. Undefined: there is one. */
export function logRefusal(pod: Draft, container: string, previous: boolean): Refusal | undefined {
  const of = `container ${JSON.stringify(container)} in pod ${JSON.stringify(textOf(pod.metadata.name))}`;
  const status = statusOf(pod, container);
  if (!status) return badRequest(`${of} is not available`);
  const [state, last] = [objectOf(status.state), objectOf(status.lastState)];
  if (previous) return hasRun(last) ? undefined : badRequest(`previous terminated ${of} not found`);
  if (isObject(state.running) || hasRun(state) || hasRun(last)) return undefined;
  if (isObject(state.terminated) || isObject(last.terminated)) return badRequest(`${of} is terminated`);
  if (!isObject(state.waiting)) return badRequest(`${of} is waiting to start - no logs yet`);
  return badRequest(`${of} is waiting to start: ${waitingText(textOf(state.waiting.reason))}`);
}

function waitingText(reason: string): string {
  if (reason === 'ErrImagePull') return "image can't be pulled";
  return reason === 'ImagePullBackOff' ? 'trying and failing to pull image' : reason;
}

export function isRunning(pod: Draft, container: string): boolean {
  return isObject(objectOf(statusOf(pod, container)?.state).running);
}
