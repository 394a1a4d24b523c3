import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterView, NodeView } from '@reeve/redis';
import { unknown } from '@reeve/runtime';
import { annotationsOf, parseAnnotation, parseEndpoint, parseHostsFile, resolveNode, spreadKeys } from './address.ts';

const hasCode = (code: string) => (error: unknown) => (error as { code?: string }).code === code;

test('addresses are host:port, IPv6 in brackets', () => {
  assert.deepEqual(parseEndpoint('10.0.0.1:6379'), { host: '10.0.0.1', port: 6379 });
  assert.deepEqual(parseEndpoint('db.example:1'), { host: 'db.example', port: 1 });
  assert.deepEqual(parseEndpoint('[::1]:7000'), { host: '::1', port: 7000 });
  for (const bad of ['6379', 'host', 'host:', ':6379', '::1:7000', 'host:0', 'host:65536', '[host]:1', 'a b:1', '']) {
    assert.throws(() => parseEndpoint(bad), hasCode('USAGE'), bad);
  }
});

const node = (id: string, port: number): NodeView => ({
  id: id.padEnd(40, '0'),
  endpoint: { host: '10.0.0.1', port },
  report: unknown('not asked'),
  heard: [],
  annotations: {},
});
const view: ClusterView = { observedAt: 0, nodes: [node('aa1', 1), node('aa2', 2), node('b', 3)], silent: [] };

test('a node is named by a unique prefix of its id or by its address', () => {
  assert.equal(resolveNode(view, 'b'), 'b'.padEnd(40, '0'));
  assert.equal(resolveNode(view, 'AA1'), 'aa1'.padEnd(40, '0'));
  assert.equal(resolveNode(view, { host: '10.0.0.1', port: 2 }), 'aa2'.padEnd(40, '0'));
  assert.throws(() => resolveNode(view, 'aa'), hasCode('NODE_AMBIGUOUS'));
  assert.throws(() => resolveNode(view, 'c'), hasCode('NODE_UNKNOWN'));
  assert.throws(() => resolveNode(view, { host: '10.0.0.1', port: 9 }), hasCode('NODE_UNKNOWN'));
  assert.throws(() => resolveNode(view, 'primary'), hasCode('USAGE'));
});

test('annotations of a node win over those of its host', () => {
  const of = annotationsOf([
    parseAnnotation('10.0.0.1=zone=a'),
    parseAnnotation('10.0.0.1=rack=r1'),
    parseAnnotation('10.0.0.1:2=zone=b=c'),
  ]);
  assert.deepEqual(of({ host: '10.0.0.1', port: 1 }), { zone: 'a', rack: 'r1' });
  assert.deepEqual(of({ host: '10.0.0.1', port: 2 }), { zone: 'b=c', rack: 'r1' });
  assert.deepEqual(of({ host: '10.0.0.2', port: 2 }), {});
  assert.throws(() => parseAnnotation('10.0.0.1=zone'), hasCode('USAGE'));
});

test('a hosts file is JSON or lines', () => {
  const expected = [
    { address: '10.0.0.1:1', key: 'zone', value: 'a' },
    { address: '10.0.0.1:1', key: 'host', value: 'h1' },
    { address: '10.0.0.2', key: 'zone', value: 'b' },
  ];
  assert.deepEqual(parseHostsFile('# zones\n10.0.0.1:1 zone=a host=h1 # first\n\n10.0.0.2\tzone=b\n', 'f'), expected);
  assert.deepEqual(
    parseHostsFile('{"10.0.0.1:1": {"zone": "a", "host": "h1"}, "10.0.0.2": {"zone": "b"}}', 'f'),
    expected,
  );
  assert.throws(() => parseHostsFile('10.0.0.1 zone', 'f'), /f:1: 'zone' is not KEY=VALUE/);
  assert.throws(() => parseHostsFile('{"a": 1}', 'f'), hasCode('USAGE'));
  assert.throws(() => parseHostsFile('{"a": {"b": 1}}', 'f'), hasCode('USAGE'));
  assert.throws(() => parseHostsFile('{', 'f'), /not JSON/);
});

test('what to spread by: as given, else zones when there are any', () => {
  assert.deepEqual(spreadKeys('zone, rack', []), ['zone', 'rack']);
  assert.deepEqual(spreadKeys(undefined, []), ['host']);
  assert.deepEqual(spreadKeys(undefined, [{ address: 'a', key: 'zone', value: 'z' }]), ['zone', 'host']);
  assert.throws(() => spreadKeys('zone,,host', []), hasCode('USAGE'));
});
