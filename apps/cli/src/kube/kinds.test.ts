import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resource, type ServedResource } from '@reeve/kube';
import { kindWord, readWanted, resolveKind } from './kinds.ts';

function served(group: string, kind: string, plural: string, ...shortNames: readonly string[]): ServedResource {
  const described = resource({ group, version: 'v1', plural, kind, namespaced: true });
  return { ...described, verbs: ['get'], subresources: [], singular: kind.toLowerCase(), shortNames };
}

const all = [
  served('', 'Pod', 'pods', 'po'),
  served('', 'Event', 'events', 'ev'),
  served('events.k8s.io', 'Event', 'events', 'ev'),
  served('apps', 'StatefulSet', 'statefulsets', 'sts'),
  served('cassandra.reeve.dev', 'Cluster', 'clusters', 'cc'),
  served('redis.reeve.dev', 'Cluster', 'clusters', 'rc'),
];

test('a kind is found by every name it has', () => {
  for (const word of ['pods', 'pod', 'po', 'Pod', 'PODS']) assert.equal(resolveKind(all, word).plural, 'pods', word);
  for (const word of ['sts', 'statefulset', 'statefulsets.apps', 'sts.apps', 'statefulsets.v1.apps']) {
    assert.equal(kindWord(resolveKind(all, word)), 'statefulset.apps', word);
  }
});

test('of two kinds that mean the same the one of the core group is taken', () => {
  assert.equal(resolveKind(all, 'events').group, '');
  assert.equal(resolveKind(all, 'ev').group, '');
  assert.equal(resolveKind(all, 'events.events.k8s.io').group, 'events.k8s.io');
});

test('what is not clear is not guessed', () => {
  assert.throws(() => resolveKind(all, 'cluster'), {
    code: 'KIND_AMBIGUOUS',
    message: /clusters\.cassandra\.reeve\.dev or clusters\.redis\.reeve\.dev/,
  });
  assert.equal(resolveKind(all, 'rc').group, 'redis.reeve.dev');
  assert.equal(resolveKind(all, 'cluster.redis.reeve.dev').group, 'redis.reeve.dev');
  assert.throws(() => resolveKind(all, 'podz'), { code: 'KIND_UNKNOWN', message: /did you mean pods\?/ });
  assert.throws(() => resolveKind(all, 'pods.apps'), { code: 'KIND_UNKNOWN' });
});

test('objects are named by kind and names, or by pairs', () => {
  assert.deepEqual(readWanted(['pods']), [{ kind: 'pods', names: [] }]);
  assert.deepEqual(readWanted(['po', 'a', 'b']), [{ kind: 'po', names: ['a', 'b'] }]);
  assert.deepEqual(readWanted(['po,svc']), [
    { kind: 'po', names: [] },
    { kind: 'svc', names: [] },
  ]);
  assert.deepEqual(readWanted(['pod/a', 'svc/b', 'pod/c']), [
    { kind: 'pod', names: ['a', 'c'] },
    { kind: 'svc', names: ['b'] },
  ]);
  for (const wrong of [
    [],
    [','],
    ['pod/'],
    ['pod/a/b'],
    ['pod/a', 'b'],
    ['pod', 'a/b'],
    ['po,svc', 'a'],
    ['pod', ''],
  ]) {
    assert.throws(() => readWanted(wrong), { code: 'USAGE' }, wrong.join(' '));
  }
});
