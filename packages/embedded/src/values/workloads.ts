/** StatefulSet, Deployment and ReplicaSet: who selects pods must select those that he makes. */
import { type Draft, isSame, type JsonObject, objectOf } from '../object/draft.ts';
import { dnsLabel } from '../object/names.ts';
import type { FieldError } from '../status/field-error.ts';
import { checkClaimSpec } from './claim.ts';
import { Part } from './part.ts';
import { checkTemplate, checkTemplateMetadata } from './pod-spec.ts';
import { percent } from './rules.ts';
import { checkOwnSelector, isEmptySelector } from './selector.ts';

const MORE_THAN_ALL = 'must not be greater than 100%';

export function deploymentErrors(
  deployment: Draft,
  old: Draft | undefined,
  subresource: string,
): readonly FieldError[] {
  if (subresource === 'status') return statusErrors(deployment, 'readyReplicas');
  const spec = new Part(deployment).within('spec');
  checkReplicas(spec, 'deployment', 'ReplicaSet');
  checkStrategy(spec);
  spec.notNegative('minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds');
  if (spec.has('progressDeadlineSeconds') && spec.number('progressDeadlineSeconds') <= spec.number('minReadySeconds')) {
    spec.wrong(
      'progressDeadlineSeconds',
      spec.number('progressDeadlineSeconds'),
      'must be greater than minReadySeconds',
    );
  }
  if (old !== undefined) spec.keeps('selector', objectOf(old.spec));
  return spec.errors;
}

export function replicaSetErrors(set: Draft, old: Draft | undefined, subresource: string): readonly FieldError[] {
  if (subresource === 'status') return [];
  const spec = new Part(set).within('spec');
  // The real server calls it a deployment here, too.
  checkReplicas(spec, 'deployment', 'ReplicaSet');
  spec.notNegative('minReadySeconds');
  if (old !== undefined) spec.keeps('selector', objectOf(old.spec));
  return spec.errors;
}

function checkReplicas(spec: Part, owner: string, kind: string): void {
  spec.notNegative('replicas');
  if (!checkPodSelector(spec, owner, 'invalid label selector')) return;
  checkTemplate(spec.within('template'));
  checkRestarts(spec, kind);
}

/** Whether the selector makes sense. */
function checkPodSelector(spec: Part, owner: string, problem: string): boolean {
  const selector = objectOf(spec.object.selector);
  const makesSense = checkOwnSelector(spec);
  if (!makesSense) spec.wrong('selector', selector, problem);
  if (spec.has('selector') && isEmptySelector(selector)) {
    spec.wrong('selector', selector, `empty selector is invalid for ${owner}`);
  }
  return makesSense;
}

function checkRestarts(spec: Part, kind: string): void {
  const pod = objectOf(objectOf(spec.object.template).spec);
  if (pod.restartPolicy !== 'Always') {
    spec.unsupported('template.spec.restartPolicy', pod.restartPolicy ?? '', ['Always']);
  }
  if (pod.activeDeadlineSeconds !== undefined) {
    const detail = `activeDeadlineSeconds in ${kind} is not Supported`;
    spec.forbid('template.spec.activeDeadlineSeconds', detail);
  }
}

function checkStrategy(spec: Part): void {
  const strategy = spec.within('strategy');
  const rolling = strategy.within('rollingUpdate');
  if (strategy.object.type === 'Recreate') {
    if (strategy.has('rollingUpdate')) {
      strategy.forbid('rollingUpdate', "may not be specified when strategy `type` is 'Recreate'");
    }
    return;
  }
  if (strategy.object.type !== 'RollingUpdate') {
    const shown = new Map<string, unknown>([
      ['Type', strategy.text('type')],
      ['RollingUpdate', null],
    ]);
    return spec.unsupported('strategy', shown, ['Recreate', 'RollingUpdate']);
  }
  checkShare(rolling, 'maxUnavailable');
  checkShare(rolling, 'maxSurge');
  const { maxUnavailable = 0, maxSurge = 0 } = rolling.object;
  if (amountOf(maxUnavailable) === 0 && amountOf(maxSurge) === 0) {
    rolling.wrong('maxUnavailable', maxUnavailable, 'may not be 0 when `maxSurge` is 0');
  }
  if (isMoreThanAll(maxUnavailable)) rolling.wrong('maxUnavailable', maxUnavailable, MORE_THAN_ALL);
}

/** A number of pods, or how many of a hundred. */
export function checkShare(part: Part, field: string): void {
  const value = part.object[field];
  if (typeof value === 'string') part.wrong(field, value, ...percent(value));
  else part.notNegative(field);
}

const amountOf = (value: unknown): number =>
  typeof value === 'string' ? Number.parseInt(value, 10) || 0 : typeof value === 'number' ? value : 0;

export const isMoreThanAll = (value: unknown): boolean =>
  typeof value === 'string' && percent(value).length === 0 && amountOf(value) > 100;

export function statefulSetErrors(set: Draft, old: Draft | undefined, subresource: string): readonly FieldError[] {
  if (subresource === 'status') return statusErrors(set, 'status.readyReplicas');
  const spec = new Part(set).within('spec');
  const policy = spec.text('podManagementPolicy');
  if (policy === '') spec.missing('podManagementPolicy');
  else if (policy !== 'OrderedReady' && policy !== 'Parallel') {
    spec.wrong('podManagementPolicy', policy, "must be 'OrderedReady' or 'Parallel'");
  }
  checkUpdates(spec);
  for (const retention of spec.maybe('persistentVolumeClaimRetentionPolicy')) {
    for (const field of ['whenDeleted', 'whenScaled']) {
      const value = retention.text(field);
      if (!['Retain', 'Delete'].includes(value)) retention.unsupported(field, value, ['Retain', 'Delete']);
    }
  }
  const isNew = old === undefined;
  if (isNew) for (const claim of spec.list('volumeClaimTemplates')) checkClaimSpec(claim.within('spec'));
  spec.notNegative('replicas', 'minReadySeconds');
  const start = spec.within('ordinals').number('start');
  if (start < 0) spec.wrong('ordinals.start', start, 'must be greater than or equal to 0');
  if (isNew) spec.named('serviceName', dnsLabel);
  if (checkPodSelector(spec, 'statefulset', '')) {
    checkTemplate(withClaims(spec));
    // Once more, as the real server does it.
    checkTemplateMetadata(spec.within('template'));
  }
  checkRestarts(spec, 'StatefulSet');
  if (!isNew && !isSame(lasting(spec.object), lasting(objectOf(old.spec)))) {
    const mutable =
      "'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds'";
    spec.isForbidden(`updates to statefulset spec for fields other than ${mutable} are forbidden`);
  }
  return spec.errors;
}

function lasting(spec: JsonObject): JsonObject {
  const {
    replicas: _replicas,
    ordinals: _ordinals,
    template: _template,
    updateStrategy: _strategy,
    revisionHistoryLimit: _limit,
    persistentVolumeClaimRetentionPolicy: _retention,
    minReadySeconds: _seconds,
    ...rest
  } = spec;
  return rest;
}

function checkUpdates(spec: Part): void {
  const strategy = spec.within('updateStrategy');
  const rolling = strategy.within('rollingUpdate');
  switch (strategy.object.type) {
    case 'OnDelete':
      if (strategy.has('rollingUpdate')) {
        const { partition = 0, maxUnavailable = null } = rolling.object;
        const shown = new Map<string, unknown>([
          ['Partition', partition],
          ['MaxUnavailable', maxUnavailable],
        ]);
        strategy.wrong('rollingUpdate', shown, "only allowed for updateStrategy 'RollingUpdate'");
      }
      break;
    case 'RollingUpdate':
      rolling.notNegative('partition');
      break;
    default: {
      const shown = new Map<string, unknown>([
        ['Type', strategy.text('type')],
        ['RollingUpdate', null],
      ]);
      spec.wrong('updateStrategy', shown, "must be 'RollingUpdate' or 'OnDelete'");
    }
  }
}

/** Its claims are volumes of its pods; the names of its pods are the set's business. */
function withClaims(spec: Part): Part {
  const template = objectOf(spec.object.template);
  const { hostname: _hostname, subdomain: _subdomain, ...pod } = objectOf(template.spec);
  const claims = spec.list('volumeClaimTemplates').map(({ object }) => objectOf(object.metadata).name ?? '');
  if (claims.length === 0) return new Part({ ...template, spec: pod }, spec.at('template'), spec.errors);
  const own = new Part(pod).list('volumes').filter((volume) => !claims.includes(volume.text('name')));
  const volumes = [
    ...claims.map((name) => ({ name, persistentVolumeClaim: { claimName: name } })),
    ...own.map(({ object }) => object),
  ];
  return new Part({ ...template, spec: { ...pod, volumes } }, spec.at('template'), spec.errors);
}

function statusErrors(object: Draft, ready: string): readonly FieldError[] {
  const status = new Part(object).within('status');
  const fields = ['replicas', 'readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'];
  status.notNegative(...fields, 'observedGeneration', 'collisionCount');
  for (const field of fields.slice(1)) {
    if (status.number(field) > status.number('replicas')) {
      status.wrong(field, status.number(field), 'cannot be greater than status.replicas');
    }
  }
  if (status.number('availableReplicas') > status.number('readyReplicas')) {
    status.wrong('availableReplicas', status.number('availableReplicas'), `cannot be greater than ${ready}`);
  }
  return status.errors;
}
