/** Volumes of pods: each has a name and one source. Of the sources, those that pods here can have are looked at. */
import { dnsLabel } from '../object/names.ts';
import { checkClaimSpec } from './claim.ts';
import { checkMode } from './container.ts';
import { checkFieldRef, checkResourceFieldRef } from './field-ref.ts';
import type { Part } from './part.ts';
import { isLess } from './resources.ts';
import { fileBelow } from './rules.ts';

const HOST_PATHS = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];
const TEN_MINUTES = 600;

/** In the order in which the real server looks at them: the first counts, the others are too many. */
const sources: Readonly<Record<string, (source: Part, volume: Part) => void>> = {
  emptyDir(source) {
    if (source.has('sizeLimit') && isLess(source.object.sizeLimit, '0')) {
      source.forbid('sizeLimit', 'SizeLimit field must be a valid resource quantity');
    }
  },
  hostPath(source) {
    if (!source.needs('path')) return;
    if (source.text('path').split('/').includes('..')) {
      source.wrong('path', source.text('path'), "must not contain '..'");
    }
    if (!HOST_PATHS.includes(source.text('type'))) source.unsupported('type', source.text('type'), HOST_PATHS);
  },
  secret(source) {
    source.needs('secretName');
    checkItems(source);
  },
  persistentVolumeClaim(source) {
    source.needs('claimName');
  },
  downwardAPI(source) {
    checkMode(source, 'defaultMode');
    for (const file of source.list('items')) checkFile(file, source);
  },
  configMap(source) {
    source.needs('name');
    checkItems(source);
  },
  projected: checkProjected,
  ephemeral(source) {
    if (!source.has('volumeClaimTemplate')) source.missing('volumeClaimTemplate');
    for (const template of source.maybe('volumeClaimTemplate')) checkClaimSpec(template.within('spec'));
  },
};
const OTHERS = [
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'gitRepo',
  'nfs',
  'iscsi',
  'glusterfs',
  'rbd',
  'flexVolume',
  'cinder',
  'cephfs',
  'flocker',
  'fc',
  'azureFile',
  'vsphereVolume',
  'quobyte',
  'azureDisk',
  'photonPersistentDisk',
  'portworxVolume',
  'scaleIO',
  'storageos',
  'csi',
  'image',
];

/** Answers with the names that mounts may use: those of volumes that are right. */
export function checkVolumes(spec: Part): ReadonlySet<string> {
  const names = new Set<string>();
  for (const volume of spec.list('volumes')) {
    const before = volume.errors.length;
    const name = volume.text('name');
    checkSource(volume);
    if (volume.needs('name')) volume.named('name', dnsLabel);
    if (names.has(name)) volume.duplicate('name', name);
    if (volume.errors.length === before) names.add(name);
  }
  return names;
}

function checkSource(volume: Part): void {
  const [first, ...more] = Object.keys(sources).filter((source) => volume.has(source));
  const others = OTHERS.filter((source) => volume.has(source));
  if (first === undefined) {
    if (others.length === 0) volume.isMissing('must specify a volume type');
    return;
  }
  sources[first]?.(volume.within(first), volume);
  for (const one of [...more, ...others]) volume.forbid(one, 'may not specify more than 1 volume type');
}

function checkItems(source: Part): void {
  checkMode(source, 'defaultMode');
  for (const item of source.list('items')) checkItem(item);
}

function checkItem(item: Part): void {
  item.needs('key');
  item.needs('path');
  item.wrong('path', item.text('path'), ...fileBelow(item.text('path')));
  checkMode(item, 'mode');
}

/** The real server forgets which of the files it was. */
function checkFile(file: Part, source: Part): void {
  if (file.text('path') === '') source.missing('path');
  source.wrong('path', file.text('path'), ...fileBelow(file.text('path')));
  const [field] = file.maybe('fieldRef');
  const [resource] = file.maybe('resourceFieldRef');
  if (field !== undefined) {
    checkFieldRef(source.standingFor(field, 'fieldRef'), 'volume');
    if (resource !== undefined) {
      source.isWrong('resource', 'fieldRef and resourceFieldRef can not be specified simultaneously');
    }
  } else if (resource !== undefined) checkResourceFieldRef(source.standingFor(resource, 'resourceFieldRef'), true);
  else source.isMissing('one of fieldRef and resourceFieldRef is required');
  if (file.has('mode')) checkMode(source.standingFor(file, ''), 'mode');
}

function checkProjected(projected: Part): void {
  checkMode(projected, 'defaultMode');
  const paths = new Set<string>();
  const put = (path: string, shown: string): void => {
    if (path !== '' && paths.has(path)) projected.isWrong(shown, 'conflicting duplicate paths');
    paths.add(path);
  };
  for (const source of projected.list('sources')) {
    const given = ['secret', 'configMap', 'downwardAPI', 'serviceAccountToken'].filter((field) => source.has(field));
    for (const data of [...source.maybe('secret'), ...source.maybe('configMap')]) {
      data.needs('name');
      for (const item of data.list('items')) {
        checkItem(item);
        put(item.text('path'), data.text('name'));
      }
    }
    for (const fields of source.maybe('downwardAPI')) {
      for (const file of fields.list('items')) {
        checkFile(file, fields);
        put(file.text('path'), file.text('path'));
      }
    }
    for (const token of source.maybe('serviceAccountToken')) checkToken(token, projected);
    if (given.length > 1) source.isForbidden('may not specify more than 1 volume type per source');
  }
}

function checkToken(token: Part, projected: Part): void {
  const seconds = token.number('expirationSeconds');
  if (seconds < TEN_MINUTES) {
    token.wrong('expirationSeconds', seconds, 'may not specify a duration less than 10 minutes');
  }
  if (seconds > 2 ** 32) {
    token.wrong('expirationSeconds', seconds, 'may not specify a duration larger than 2^32 seconds');
  }
  const path = token.text('path');
  if (path === '') projected.missing('path');
  else projected.wrong('path', path, ...fileBelow(path));
}
