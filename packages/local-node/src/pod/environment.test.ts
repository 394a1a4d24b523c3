import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container } from '../kinds/pod.ts';
import { fieldOf, resourceOf } from './downward.ts';
import { byEntrypoint, commandOf, environmentOf, expand } from './environment.ts';
import { podOf } from './pod-testing.ts';

const around = {
  nodeName: 'n',
  hostAddress: '127.0.0.1',
  address: '127.1.0.1',
  allocatable: { cpu: '4', memory: '4Gi' },
};
const sources = {
  configMaps: { c: { A: '1', B: '$(A)' }, gone: null },
  secrets: { s: { P: 'word' } },
};

function env(container: Omit<Container, 'name'>, given: Readonly<Record<string, string>> = {}) {
  const metadata = { labels: { app: 'x' }, annotations: { 'a.b/c': 'd' } };
  return environmentOf({
    pod: podOf({}, { metadata }),
    container: { name: 'main', ...container },
    sources,
    around,
    given,
  });
}

test('references are expanded, escaped ones and unknown ones are not', () => {
  const known = { A: '1', B: '$(A)' };
  const rows = [
    ['$(A)', '1'],
    ['x$(A)y$(B)', 'x1y$(A)'],
    ['$(NO)', '$(NO)'],
    ['$$(A)', '$(A)'],
    ['$$$(A)', '$1'],
    ['$A ${A} $( A)', '$A ${A} $( A)'],
    ['$(A', '$(A'],
    ['$(constructor)', '$(constructor)'],
  ] as const;
  for (const [text, expected] of rows) assert.equal(expand(text, known), expected, text);
});

test('values come from the pod, from objects and from each other, the last one counts', () => {
  assert.deepEqual(
    env({
      envFrom: [{ configMapRef: { name: 'c' } }, { prefix: 'S_', secretRef: { name: 's' } }],
      env: [
        { name: 'A', value: '2' },
        { name: 'C', value: '$(A)-$(S_P)' },
        { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
        { name: 'KEY', valueFrom: { configMapKeyRef: { name: 'c', key: 'A' } } },
        { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
      ],
    }),
    { A: '2', B: '$(A)', S_P: 'word', C: '2-word', IP: '127.1.0.1', KEY: '1', CPU: '4' },
  );
});

test('what is missing is a problem unless it is optional', () => {
  const from = (name: string, key: string, optional: boolean) => ({
    env: [{ name: 'X', valueFrom: { configMapKeyRef: { name, key, optional } } }],
  });
  assert.throws(() => env(from('gone', 'A', false)), /configmap "gone" not found/);
  assert.throws(() => env(from('c', 'Z', false)), /couldn't find key Z in ConfigMap c/);
  assert.deepEqual(env(from('gone', 'A', true)), {});
  assert.deepEqual(env(from('c', 'Z', true)), {});
  assert.throws(() => env({ envFrom: [{ secretRef: { name: 'no' } }] }), /secret "no" not found/);
});

test('fields and resources that a pod may know', () => {
  const metadata = { labels: { app: 'x', b: '"' }, annotations: { 'a.b/c': 'd' } };
  const pod = podOf({ serviceAccountName: 'sa' }, { metadata });
  const rows = [
    ['metadata.name', 'p'],
    ['metadata.namespace', 'default'],
    ["metadata.labels['app']", 'x'],
    ["metadata.annotations['a.b/c']", 'd'],
    ["metadata.labels['no']", ''],
    ['metadata.labels', 'app="x"\nb="\\""'],
    ['spec.nodeName', 'n'],
    ['spec.serviceAccountName', 'sa'],
    ['status.hostIP', '127.0.0.1'],
    ['status.phase', undefined],
  ] as const;
  for (const [path, expected] of rows) assert.equal(fieldOf(pod, path, around), expected, path);
  const containers: Container[] = [{ name: 'main', resources: { limits: { cpu: '1500m', memory: '1Gi' } } }];
  const told = (resource: string, divisor?: string) => resourceOf(containers, 'main', { resource, divisor }, around);
  assert.equal(told('limits.cpu'), '2');
  assert.equal(told('limits.cpu', '1m'), '1500');
  assert.equal(told('limits.memory', '1Mi'), '1024');
  assert.equal(told('requests.memory'), String(2 ** 30));
  assert.equal(resourceOf([{ name: 'main' }], 'main', { resource: 'limits.memory' }, around), String(2 ** 32));
});

test('a command takes the place of the image’s, arguments only that of its arguments', () => {
  const image = { entrypoint: ['server'], command: ['--default'] };
  const told = (container: Omit<Container, 'name'>) => commandOf({ name: 'main', ...container }, image, { A: '1' });
  assert.deepEqual(told({}), ['server', '--default']);
  assert.deepEqual(told({ args: ['--a', '$(A)'] }), ['server', '--a', '1']);
  assert.deepEqual(told({ command: ['sh'] }), ['sh']);
  assert.deepEqual(told({ command: ['sh'], args: ['-c', 'echo $$(A)'] }), ['sh', '-c', 'echo $(A)']);
});

test('a command that is the image’s own program is its entrypoint, with the rest as arguments', () => {
  const image = { entrypoint: ['/cache/loader', '/cache/server'], command: [], program: 'server' };
  const told = (container: Omit<Container, 'name'>, of: Parameters<typeof byEntrypoint>[1] = image) => {
    const { command, args } = byEntrypoint({ name: 'main', ...container }, of);
    return [command, args];
  };
  assert.deepEqual(told({ command: ['server'] }), [undefined, []]);
  assert.deepEqual(told({ command: ['/usr/local/bin/server', '--a'], args: ['--b'] }), [undefined, ['--a', '--b']]);
  assert.deepEqual(told({ args: ['server', '--a'] }), [undefined, ['--a']]);
  assert.deepEqual(told({ command: [], args: ['--a', 'server'] }), [[], ['--a', 'server']]);
  assert.deepEqual(told({ command: ['sh', '-c', 'server'] }), [['sh', '-c', 'server'], undefined]);
  assert.deepEqual(told({ command: ['server-cli'] }), [['server-cli'], undefined]);
  assert.deepEqual(told({}), [undefined, undefined]);
  assert.deepEqual(told({ command: ['server'] }, { entrypoint: ['server'], command: [] }), [['server'], undefined]);
});
