/** Pods: what may stand in a new one, and what of it may change. */
import { type Draft, isSame, type JsonObject, integerOf, objectOf, textOf } from '../object/draft.ts';
import { qualifiedName } from '../object/names.ts';
import type { FieldError } from '../status/field-error.ts';
import { Part } from './part.ts';
import { checkPodSpec, checkToleration } from './pod-spec.ts';
import { inRange, ipAddress } from './rules.ts';

const MOST = 2 ** 31 - 1;
const SPACE = 'must not have leading or trailing whitespace';
const FIXED = `pod updates may not change fields other than ${[
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
].join(',')}`;

export function podErrors(pod: Draft, old: Draft | undefined, subresource: string): readonly FieldError[] {
  const whole = new Part(pod);
  if (subresource === 'status') {
    checkStatus(whole.within('status'), objectOf(old?.status));
    return whole.errors;
  }
  const spec = whole.within('spec');
  checkPodSpec(spec, true);
  for (const container of [...spec.list('containers'), ...spec.list('initContainers')]) {
    const image = container.text('image');
    if (image.trim() !== image) container.wrong('image', image, SPACE);
  }
  if (spec.text('serviceAccountName') === '') {
    for (const source of spec.list('volumes').flatMap((volume) => volume.within('projected').list('sources'))) {
      if (source.has('serviceAccountToken')) {
        source.forbid('serviceAccountToken', 'must not be specified when serviceAccountName is not set');
      }
    }
  }
  if (old !== undefined) checkChange(spec, objectOf(old.spec));
  else if (spec.list('ephemeralContainers').length > 0) spec.forbid('ephemeralContainers', 'cannot be set on create');
  return whole.errors;
}

function checkChange(spec: Part, before: JsonObject): void {
  const old = new Part(before);
  for (const field of ['containers', 'initContainers']) {
    const [now, then] = [spec.list(field), old.list(field)];
    if (now.length !== then.length) return spec.forbid(field, 'pod updates may not add or remove containers');
    for (const container of now) {
      container.needs('image');
      const image = container.text('image');
      if (image.trim() !== image) container.wrong('image', image, SPACE);
    }
  }
  if (!checkDeadline(spec, before)) return;
  const added = spec.list('tolerations');
  if (old.list('tolerations').every((one) => added.some((other) => isSame(lasting(one), lasting(other))))) {
    for (const toleration of added) checkToleration(toleration);
  } else spec.forbid('tolerations', 'existing toleration can not be modified except its tolerationSeconds');
  if (!isSame(withWhatMayChange(spec.object, before), before)) spec.isForbidden(FIXED);
}

const lasting = ({ object }: Part): JsonObject => {
  const { tolerationSeconds: _, ...rest } = object;
  return rest;
};

/** It may be set, and become shorter. */
function checkDeadline(spec: Part, before: JsonObject): boolean {
  const had = integerOf(before.activeDeadlineSeconds);
  if (!spec.has('activeDeadlineSeconds')) {
    if (had === undefined) return true;
    spec.wrong('activeDeadlineSeconds', null, 'must not update from a positive integer to nil value');
    return true;
  }
  const seconds = spec.number('activeDeadlineSeconds');
  const problems = inRange(seconds, 0, MOST);
  if (problems.length > 0) spec.wrong('activeDeadlineSeconds', seconds, ...problems);
  else if (had !== undefined && had < seconds) {
    spec.wrong('activeDeadlineSeconds', seconds, 'must be less than or equal to previous value');
  } else return true;
  return false;
}

/** The new spec with everything as it was that may be changed; the node may be said once, for want of a binding. */
function withWhatMayChange(spec: JsonObject, before: JsonObject): JsonObject {
  const same: JsonObject = { ...spec };
  const keep = (field: string): void => {
    if (before[field] === undefined) delete same[field];
    else same[field] = before[field];
  };
  for (const field of ['activeDeadlineSeconds', 'schedulingGates', 'tolerations']) keep(field);
  for (const field of ['containers', 'initContainers']) {
    const images = new Part(before).list(field).map((container) => container.text('image'));
    const now = new Part(spec).list(field);
    if (now.length > 0) same[field] = now.map(({ object }, index) => ({ ...object, image: images[index] ?? '' }));
  }
  if (textOf(before.nodeName) === '') keep('nodeName');
  if ((integerOf(before.terminationGracePeriodSeconds) ?? 0) < 0 && spec.terminationGracePeriodSeconds === 1) {
    keep('terminationGracePeriodSeconds');
  }
  return same;
}

const SYSTEM = ['PodScheduled', 'Ready', 'Initialized'];

function checkStatus(status: Part, before: JsonObject): void {
  for (const condition of status.list('conditions')) {
    const type = condition.text('type');
    if (!SYSTEM.includes(type)) condition.wrong('Type', type, ...qualifiedName(type));
  }
  status.keeps('qosClass', before, status.text('qosClass'));
  const known = new Part(before).list('podIPs').map((one) => one.text('ip'));
  for (const [index, one] of status.list('podIPs').entries()) {
    const ip = one.text('ip');
    if (!known.includes(ip)) status.wrong(`podIPs[${index}]`, ip, ...ipAddress(ip));
  }
}
