/** Values of built-in kinds. What is refused in which words is held by the conformance suite; here that it is, and where. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Draft, JsonObject } from '../object/draft.ts';
import { builtinKinds } from '../kinds/builtin.ts';
import type { Kind } from '../kinds/kind.ts';

const kindOf = (name: string): Kind => builtinKinds.find(({ kind }) => kind === name) as Kind;

/** As the server has it when it looks. */
function shaped(name: string, object: JsonObject): Draft {
  const kind = kindOf(name);
  const draft = { metadata: { name: 'a', namespace: 'default' }, ...structuredClone(object) } as Draft;
  kind.defaults?.(draft);
  return kind.versions[0]?.types.shaped(draft) as Draft;
}

const fieldsOf = (name: string, object: JsonObject, old?: JsonObject, subresource = ''): readonly string[] =>
  (kindOf(name).validate?.(shaped(name, object), old && shaped(name, old), subresource) ?? []).map(
    ({ field, type }) => `${field} ${type.replace('FieldValue', '')}`,
  );

const container = { name: 'c', image: 'i' };
const pod = (spec: JsonObject = {}): JsonObject => ({ spec: { containers: [container], ...spec } });
const labels = { app: 'x' };
const template = { metadata: { labels }, spec: { containers: [container] } };
const workload = (spec: JsonObject = {}): JsonObject => ({
  spec: { selector: { matchLabels: labels }, template, ...spec },
});
const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };

test('what is right is let through', () => {
  assert.deepEqual(fieldsOf('Pod', pod()), []);
  assert.deepEqual(fieldsOf('StatefulSet', workload({ serviceName: 's' })), []);
  assert.deepEqual(fieldsOf('Deployment', workload()), []);
  assert.deepEqual(fieldsOf('PersistentVolumeClaim', { spec: claim }), []);
  assert.deepEqual(fieldsOf('ConfigMap', { data: { 'a.b-c_D': '' } }), []);
  assert.deepEqual(fieldsOf('Lease', { spec: { leaseDurationSeconds: 1 } }), []);
});

test('a pod names volumes that it has, and everything once', () => {
  const mounts = [
    { name: 'v', mountPath: '/a' },
    { name: 'w', mountPath: '/a' },
  ];
  const volumes = [
    { name: 'v', emptyDir: {} },
    { name: 'v', emptyDir: {} },
  ];
  assert.deepEqual(fieldsOf('Pod', pod({ volumes, containers: [{ ...container, volumeMounts: mounts }, container] })), [
    'spec.volumes[1].name Duplicate',
    'spec.containers[0].volumeMounts[1].name NotFound',
    'spec.containers[0].volumeMounts[1].mountPath Invalid',
    'spec.containers[1].name Duplicate',
  ]);
});

test('of a pod images may change, and its node may be said once', () => {
  const fixed = ['spec Forbidden'];
  assert.deepEqual(fieldsOf('Pod', pod({ containers: [{ ...container, image: 'j' }] }), pod()), []);
  assert.deepEqual(fieldsOf('Pod', pod({ nodeName: 'n' }), pod()), []);
  assert.deepEqual(fieldsOf('Pod', pod({ nodeName: 'm' }), pod({ nodeName: 'n' })), fixed);
  assert.deepEqual(fieldsOf('Pod', pod({ containers: [{ ...container, args: ['x'] }] }), pod()), fixed);
  assert.deepEqual(fieldsOf('Pod', pod({ hostname: 'x' }), pod()), fixed);
});

test('who selects pods selects those that he makes, and goes on doing so', () => {
  const other = { selector: { matchLabels: { app: 'y' } } };
  assert.deepEqual(fieldsOf('Deployment', workload(other)), ['spec.template.metadata.labels Invalid']);
  assert.deepEqual(fieldsOf('Deployment', workload({ selector: {} })), ['spec.selector Invalid']);
  const both = { ...template, metadata: { labels: { app: 'y', b: 'c' } } };
  const now = workload({ ...other, template: both });
  assert.deepEqual(fieldsOf('Deployment', now, workload()), ['spec.selector Invalid']);
  assert.deepEqual(fieldsOf('StatefulSet', now, workload()), ['spec Forbidden']);
  assert.deepEqual(fieldsOf('StatefulSet', workload({ replicas: 3 }), workload()), []);
});

test('what a stateful set claims are volumes of its pods', () => {
  const mounting = {
    ...template,
    spec: { containers: [{ ...container, volumeMounts: [{ name: 'd', mountPath: '/d' }] }] },
  };
  const claims = { volumeClaimTemplates: [{ metadata: { name: 'd' }, spec: claim }] };
  assert.deepEqual(fieldsOf('StatefulSet', workload({ template: mounting, ...claims })), []);
  assert.deepEqual(fieldsOf('StatefulSet', workload({ template: mounting })), [
    'spec.template.spec.containers[0].volumeMounts[0].name NotFound',
  ]);
});

test('a claim is fixed until it is bound, and then only grows', () => {
  const sized = (storage: string) => ({ ...claim, resources: { requests: { storage } } });
  const bound = { status: { phase: 'Bound', capacity: { storage: '1Gi' } } };
  assert.deepEqual(fieldsOf('PersistentVolumeClaim', { spec: sized('2Gi') }, { spec: claim }), ['spec Forbidden']);
  assert.deepEqual(fieldsOf('PersistentVolumeClaim', { spec: sized('2Gi'), ...bound }, { spec: claim, ...bound }), []);
  assert.deepEqual(fieldsOf('PersistentVolumeClaim', { spec: sized('512Mi'), ...bound }, { spec: claim, ...bound }), [
    'spec.resources.requests.storage Forbidden',
  ]);
  assert.deepEqual(fieldsOf('PersistentVolumeClaim', { spec: { ...claim, volumeName: 'v' } }, { spec: claim }), []);
});

test('ports that two containers have are warned of, once a pod or a template is new', () => {
  const containers = ['a', 'b'].map((name) => ({ name, image: 'i', ports: [{ containerPort: 80 }] }));
  const warn = (name: string, object: JsonObject, old?: JsonObject) =>
    kindOf(name).warn?.(shaped(name, object), old && shaped(name, old));
  const text = 'containers[1].ports[0]: duplicate port definition with';
  assert.deepEqual(warn('Pod', pod({ containers })), [`spec.${text} spec.containers[0].ports[0]`]);
  assert.deepEqual(warn('Pod', pod({ containers }), pod({ containers })), []);
  const of = workload({ template: { ...template, spec: { containers } } });
  const at = (generation: number): JsonObject => ({ metadata: { name: 'a', generation }, ...of });
  assert.equal(warn('StatefulSet', at(2), at(1))?.length, 1);
  assert.deepEqual(warn('StatefulSet', at(2), at(2)), []);
});

test('names that every object of JavaScript has are names like any other', () => {
  const data = { constructor: 'c', toString: 't', hasOwnProperty: 'h' };
  assert.deepEqual(fieldsOf('ConfigMap', { data }), []);
  assert.deepEqual(fieldsOf('ConfigMap', { data, binaryData: { toString: 'aGk=' } }), ['data[toString] Invalid']);
  assert.deepEqual(fieldsOf('Secret', { type: 'constructor' }), []);
  const resources = { requests: { toString: '1' } };
  const problems = fieldsOf('Pod', pod({ containers: [{ ...container, resources }] }));
  assert.deepEqual(
    problems,
    fieldsOf('Pod', pod({ containers: [{ ...container, resources: { requests: { others: '1' } } }] })).map((text) =>
      text.replace('others', 'toString'),
    ),
  );
});
