/** In what state an object is, in a few words that are true of its kind, and what is amiss besides its conditions. Pure. */
import type { AnyObject } from '@reeve/kube';
import { plural } from '../output/format.ts';
import { containerFaults } from './container-faults.ts';
import { valueAt } from './jsonpath.ts';
import { podSummary } from './pod-summary.ts';

export interface ObjectState {
  readonly state: string;
  readonly amiss: readonly string[];
  /** Of before. */
  readonly past: readonly string[];
}

/** @param kind with its group: `Pod`, `StatefulSet.apps`. */
export function objectState(kind: string, object: AnyObject, now: number): ObjectState {
  switch (kind) {
    case 'Pod': {
      const { status, ready } = podSummary(object, now);
      const faults = containerFaults(object, now);
      return { state: `${status}, ${ready} ready`, amiss: faults.now, past: faults.past };
    }
    case 'StatefulSet.apps':
    case 'Deployment.apps':
    case 'ReplicaSet.apps':
      return setState(object);
    case 'Job.batch':
      return jobState(object);
    case 'Node':
      return nodeState(object);
    default:
      return { state: textAt(object, '.status.phase') ?? 'is there', amiss: [], past: [] };
  }
}

function setState(object: AnyObject): ObjectState {
  const count = (path: string): number => Number(valueAt(object, path) ?? 0);
  const wanted = Number(valueAt(object, '.spec.replicas') ?? 1);
  const ready = count('.status.readyReplicas');
  const updated = count('.status.updatedReplicas');
  const isOld = valueAt(object, '.status.updatedReplicas') !== undefined && updated < wanted;
  const isUnseen = count('.status.observedGeneration') < (object.metadata.generation ?? 0);
  const labels = Object.entries((valueAt(object, '.spec.selector.matchLabels') ?? {}) as Record<string, string>);
  const look = labels.length === 0 ? '' : `: \`reeve get pods -l ${labels.map((pair) => pair.join('=')).join(',')}\``;
  return {
    state: `${ready} of ${plural(wanted, 'pod')} ready${isOld ? `, ${updated} of the newest revision` : ''}`,
    amiss: [
      ...(isUnseen ? ['its controller has not seen the last change yet'] : []),
      ...(ready < wanted ? [`${plural(wanted - ready, 'pod')} not ready${look}`] : []),
    ],
    past: [],
  };
}

/** Why it failed is in its condition. */
function jobState(job: AnyObject): ObjectState {
  const count = (path: string): number => Number(valueAt(job, path) ?? 0);
  const isTrue = (type: string): boolean => textAt(job, `.status.conditions[?(@.type=="${type}")].status`) === 'True';
  const reason = textAt(job, '.status.conditions[?(@.type=="Failed")].reason');
  const failed = count('.status.failed');
  const wanted = valueAt(job, '.spec.completions'); // a queue of work has none
  const of = wanted === undefined ? '' : ` of ${plural(Number(wanted), 'pod')}`;
  const done = `${count('.status.succeeded')}${of} succeeded`;
  const state = isTrue('Failed')
    ? `failed${reason === undefined ? '' : ` (${reason})`}`
    : isTrue('Complete')
      ? 'complete'
      : isTrue('Suspended')
        ? 'suspended'
        : `${count('.status.active')} running`;
  const look = `\`reeve get pods -l batch.kubernetes.io/job-name=${job.metadata.name ?? ''}\``;
  const told = failed === 0 ? [] : [`${plural(failed, 'pod')} failed: ${look}`];
  return {
    state: `${state}, ${done}`,
    amiss: isTrue('Complete') ? [] : told,
    past: isTrue('Complete') ? told : [],
  };
}

function nodeState(node: AnyObject): ObjectState {
  const ready = textAt(node, '.status.conditions[?(@.type=="Ready")].status');
  const isCordoned = valueAt(node, '.spec.unschedulable') === true;
  return {
    state: `${ready === 'True' ? 'ready' : 'not ready'}${isCordoned ? ', takes no new pods' : ''}`,
    amiss: [
      ...(ready === undefined ? ['it has never said that it is ready'] : []),
      ...(isCordoned ? ['it is cordoned (spec.unschedulable): no new pods are placed on it'] : []),
    ],
    past: [],
  };
}

function textAt(object: AnyObject, path: string): string | undefined {
  const value = valueAt(object, path);
  return typeof value === 'string' ? value : undefined;
}
