/** The pods of a job. */
import type { Stored } from '@reeve/kube';
import {
  COMPLETION_INDEX,
  INDEX_FAILURES,
  INDEX_IGNORED_FAILURES,
  type Job,
  JOB_TRACKING,
  jobs,
} from '../../kinds/job.ts';
import type { Container, Pod, PodSpec } from '../../kinds/pod.ts';
import { controllerReference } from '../owned/claim.ts';
import type { IndexFailures } from './per-index.ts';
import type { NewPod } from './plan.ts';

export function newPod(job: Stored<Job>, { index, failures }: NewPod): Pod {
  const { template } = job.spec ?? { template: {} };
  const { labels, annotations, finalizers = [] } = template.metadata ?? {};
  const { name, namespace } = job.metadata;
  const numbered = index === undefined ? {} : { [COMPLETION_INDEX]: String(index) };
  return {
    metadata: {
      generateName: index === undefined ? `${name}-` : `${name}-${index}-`,
      ...(namespace !== undefined && { namespace }),
      labels: { ...labels, ...numbered },
      annotations: { ...annotations, ...numbered, ...noted(failures) },
      finalizers: [...finalizers.filter((one) => one !== JOB_TRACKING), JOB_TRACKING],
      ownerReferences: [controllerReference(jobs, job)],
    },
    spec: index === undefined ? (template.spec as PodSpec) : withIndex(template.spec as PodSpec, name, index),
  };
}

function noted(failures: IndexFailures | undefined): Readonly<Record<string, string>> {
  if (!failures) return {};
  const { counted, ignored } = failures;
  return { [INDEX_FAILURES]: String(counted), ...(ignored > 0 && { [INDEX_IGNORED_FAILURES]: String(ignored) }) };
}

function withIndex(spec: PodSpec, name: string, index: number): PodSpec {
  const fieldPath = `metadata.annotations['${COMPLETION_INDEX}']`;
  const env = { name: 'JOB_COMPLETION_INDEX', valueFrom: { fieldRef: { fieldPath } } };
  const told = (one: Container): Container =>
    one.env?.some((known) => known.name === env.name) ? one : { ...one, env: [...(one.env ?? []), env] };
  return {
    ...spec,
    hostname: `${name}-${index}`,
    containers: spec.containers.map(told),
    ...(spec.initContainers && { initContainers: spec.initContainers.map(told) }),
  };
}
