/** Defaults of the kinds that make pods. */
import { type Draft, objectOf, textOf } from '../../object/draft.ts';
import { each, fill, fillText, maybe, within } from './fill.ts';
import { defaultPodSpec } from './pods.ts';

function defaultTemplate(object: Draft): void {
  const template = within(within(object, 'spec'), 'template');
  within(template, 'metadata');
  defaultPodSpec(within(template, 'spec'));
}

export function defaultStatefulSet(set: Draft): void {
  const spec = within(set, 'spec');
  defaultTemplate(set);
  fillText(spec, { podManagementPolicy: 'OrderedReady' });
  const strategy = within(spec, 'updateStrategy');
  if (!strategy.type) {
    strategy.type = 'RollingUpdate';
    strategy.rollingUpdate ??= {};
  }
  if (strategy.type === 'RollingUpdate') {
    for (const rolling of maybe(strategy, 'rollingUpdate')) fill(rolling, { partition: 0 });
  }
  fillText(within(spec, 'persistentVolumeClaimRetentionPolicy'), { whenDeleted: 'Retain', whenScaled: 'Retain' });
  fill(spec, { replicas: 1, revisionHistoryLimit: 10 });
  for (const claim of each(spec, 'volumeClaimTemplates')) {
    fillText(claim, { apiVersion: 'v1', kind: 'PersistentVolumeClaim' });
    defaultClaim(claim as Draft);
    fillText(within(claim, 'status'), { phase: 'Pending' });
  }
}

export function defaultDeployment(deployment: Draft): void {
  const spec = within(deployment, 'spec');
  defaultTemplate(deployment);
  fill(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 });
  const strategy = within(spec, 'strategy');
  fillText(strategy, { type: 'RollingUpdate' });
  if (strategy.type === 'RollingUpdate') {
    fill(within(strategy, 'rollingUpdate'), { maxUnavailable: '25%', maxSurge: '25%' });
  }
}

export function defaultReplicaSet(set: Draft): void {
  defaultTemplate(set);
  fill(within(set, 'spec'), { replicas: 1 });
}

export function defaultJob(job: Draft): void {
  const spec = within(job, 'spec');
  defaultTemplate(job);
  if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
  fill(spec, {
    parallelism: 1,
    backoffLimit: spec.backoffLimitPerIndex === undefined ? 6 : 2 ** 31 - 1,
    completionMode: 'NonIndexed',
    suspend: false,
    podReplacementPolicy: spec.podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed',
    manualSelector: false,
  });
  const labels = objectOf(objectOf(objectOf(spec.template).metadata).labels);
  if (job.metadata.labels === undefined && Object.keys(labels).length > 0) job.metadata.labels = { ...labels };
}

/** Jobs select their pods by their own uid, unless told otherwise. */
export function selectByUid(job: Draft): void {
  const spec = within(job, 'spec');
  if (spec.manualSelector === true) return;
  const uid = textOf(job.metadata.uid);
  const name = textOf(job.metadata.name);
  const labels = within(within(within(spec, 'template'), 'metadata'), 'labels');
  labels['controller-uid'] = uid;
  labels['batch.kubernetes.io/controller-uid'] = uid;
  labels['job-name'] = name;
  labels['batch.kubernetes.io/job-name'] = name;
  within(within(spec, 'selector'), 'matchLabels')['batch.kubernetes.io/controller-uid'] = uid;
  // A job without labels has those of its pods.
  job.metadata.labels ??= { ...labels };
}

export function defaultClaim(claim: Draft): void {
  fillText(within(claim, 'spec'), { volumeMode: 'Filesystem' });
}
