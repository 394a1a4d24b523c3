/** PersistentVolumeClaim and PersistentVolume. */
import { type Draft, isSame, type JsonObject, objectOf } from '../object/draft.ts';
import { dnsSubdomain } from '../object/names.ts';
import { selectable } from '../kinds/kind.ts';
import type { FieldError } from '../status/field-error.ts';
import { Part } from './part.ts';
import { isLess, isPositive, isWhole } from './resources.ts';
import { checkSelector } from './selector.ts';

const MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
const ALONE = 'ReadWriteOncePod';
const FIXED =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
const SIZE = 'resources[storage]';

export function claimErrors(claim: Draft, old: Draft | undefined, subresource: string): readonly FieldError[] {
  if (subresource === 'status') return [];
  const whole = new Part(claim);
  checkClaimSpec(whole.within('spec'));
  if (old !== undefined) checkChange(whole, objectOf(claim.spec), objectOf(old.spec), old);
  return whole.errors;
}

export function claimWarnings(claim: Draft): readonly string[] {
  return claimSpecWarnings(objectOf(claim.spec), 'spec');
}

export function claimSpecWarnings({ resources }: JsonObject, path: string): readonly string[] {
  return ['requests', 'limits'].flatMap((field) => {
    const { storage } = objectOf(objectOf(resources)[field]);
    if (storage === undefined || isWhole(storage)) return [];
    const value = JSON.stringify(selectable(storage));
    return [`${path}.resources.${field}[storage]: fractional byte value ${value} is invalid, must be an integer`];
  });
}

function checkModes(spec: Part): void {
  const modes = spec.texts('accessModes');
  for (const mode of modes) if (!MODES.includes(mode)) spec.unsupported('accessModes', mode, MODES);
  if (modes.includes(ALONE) && modes.some((mode) => mode !== ALONE && MODES.includes(mode))) {
    spec.forbid('accessModes', 'may not use ReadWriteOncePod with other access modes');
  }
}

export function checkClaimSpec(spec: Part): void {
  if (spec.texts('accessModes').length === 0) spec.missing('accessModes', 'at least 1 access mode is required');
  for (const selector of spec.maybe('selector')) checkSelector(selector);
  checkModes(spec);
  const { storage } = objectOf(objectOf(spec.object.resources).requests);
  if (storage === undefined) spec.missing(SIZE);
  else if (!isPositive(storage)) spec.wrong(SIZE, selectable(storage), 'must be greater than zero');
  spec.named('storageClassName', dnsSubdomain);
  if (spec.has('volumeMode') && !['Block', 'Filesystem'].includes(spec.text('volumeMode'))) {
    spec.unsupported('volumeMode', spec.text('volumeMode'), ['Block', 'Filesystem']);
  }
}

/** What a claim asks for is fixed, but for the volume that it gets, and a larger size once it has it. */
function checkChange(claim: Part, spec: JsonObject, before: JsonObject, old: Draft): void {
  const isBound = objectOf(claim.object.status).phase === 'Bound';
  const [size, had] = [sizeOf(spec), sizeOf(before)];
  const allowed: JsonObject = { ...spec };
  const keep = (field: string): void => {
    if (before[field] === undefined) delete allowed[field];
    else allowed[field] = before[field];
  };
  if (!before.volumeName) keep('volumeName');
  if (before.storageClassName === undefined && spec.storageClassName !== undefined) keep('storageClassName');
  if (isBound) {
    keep('volumeAttributesClassName');
  }
  if (isBound && objectOf(spec.resources).requests !== undefined) {
    const resources = objectOf(spec.resources);
    const requests = { ...objectOf(resources.requests), ...(had === undefined ? {} : { storage: had }) };
    allowed.resources = { ...resources, requests };
  }
  if (!isSame(allowed, before)) claim.forbid('spec', FIXED);
  if (
    isLess(size, had) &&
    !isLess(sizeOf({ resources: { requests: objectOf(objectOf(old.status).capacity) } }), size)
  ) {
    claim.forbid('spec.resources.requests.storage', 'field can not be less than status.capacity');
  }
  if (spec.volumeMode !== before.volumeMode) {
    claim.wrong('volumeMode', spec.volumeMode ?? null, 'field is immutable');
  }
}

const sizeOf = (spec: JsonObject) => objectOf(objectOf(spec.resources).requests).storage;

const SOURCES_OF_NO_VOLUME = [
  'capacity',
  'accessModes',
  'claimRef',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'mountOptions',
  'volumeMode',
  'nodeAffinity',
  'volumeAttributesClassName',
];

export function volumeErrors(volume: Draft, old: Draft | undefined, subresource: string): readonly FieldError[] {
  if (subresource === 'status') return [];
  const whole = new Part(volume);
  const spec = whole.within('spec');
  if (spec.texts('accessModes').length === 0) spec.missing('accessModes');
  checkModes(spec);
  const capacity = objectOf(spec.object.capacity);
  const names = Object.keys(capacity);
  if (names.length === 0) spec.missing('capacity');
  if (capacity.storage === undefined || names.length > 1)
    spec.unsupported('capacity', spec.object.capacity ?? null, ['storage']);
  for (const [name, value] of Object.entries(capacity)) {
    if (isLess(value, '0'))
      spec.wrong(`capacity[${name}]`, Number(selectable(value)), 'must be a valid resource quantity');
    if (!isPositive(value)) spec.wrong(`capacity[${name}]`, selectable(value), 'must be greater than zero');
  }
  const reclaims = ['Delete', 'Recycle', 'Retain'];
  const reclaim = spec.text('persistentVolumeReclaimPolicy');
  if (reclaim !== '' && !reclaims.includes(reclaim))
    spec.unsupported('persistentVolumeReclaimPolicy', reclaim, reclaims);
  const sources = Object.keys(spec.object).filter((field) => !SOURCES_OF_NO_VOLUME.includes(field) && spec.has(field));
  if (sources.length === 0) spec.isMissing('must specify a volume type');
  spec.named('storageClassName', dnsSubdomain);
  if (old !== undefined) {
    const sourceOf = (from: JsonObject): JsonObject =>
      Object.fromEntries(Object.entries(from).filter(([field]) => !SOURCES_OF_NO_VOLUME.includes(field)));
    if (!isSame(sourceOf(spec.object), sourceOf(objectOf(old.spec)))) {
      whole.forbid('spec.persistentvolumesource', 'spec.persistentvolumesource is immutable after creation');
    }
  }
  return whole.errors;
}
