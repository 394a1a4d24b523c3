import assert from 'node:assert/strict';
import { test } from 'node:test';
import { enrolledText, memberManifest, partsOf, rightsOf } from './enrollment.ts';

const enrollment = { namespace: 'shop', member: 'db-1', endpoint: { host: '10.0.0.5', port: 6379 }, cluster: 'cache' };

test('the member of a host: where it is, and to which cluster it belongs', () => {
  assert.deepEqual(memberManifest(enrollment), {
    kind: 'Member',
    metadata: { namespace: 'shop', name: 'db-1', labels: { 'redis.reeve.dev/cluster': 'cache' } },
    spec: { system: 'redis', endpoint: { host: '10.0.0.5', port: 6379 }, host: '10.0.0.5' },
  });
});

test('how the agent is started can be typed, wherever its folder lies', () => {
  assert.match(enrolledText(enrollment, '/srv/db-1'), /^ {2}reeve agent redis --identity \/srv\/db-1$/m);
  assert.match(enrolledText(enrollment, '/my hosts/db-1'), /^ {2}reeve agent redis --identity '\/my hosts\/db-1'$/m);
});

test('rights end at the own member and the own account', () => {
  const roles = rightsOf(enrollment, true).filter(({ kind }) => kind === 'Role');
  const rules = roles.flatMap(({ rules: some }) => some as readonly Record<string, readonly string[]>[]);
  for (const { resources, resourceNames } of rules) {
    assert.equal(resourceNames?.length, 1, `${resources?.join(',')} of one object only`);
    assert.match(resourceNames?.[0] ?? '', /(?:^|-)db-1$/);
  }
  const verbs = new Set(rules.flatMap(({ verbs: some }) => some ?? []));
  assert.deepEqual([...verbs].sort(), ['create', 'get', 'list', 'patch', 'update', 'watch']);
  const creating = rules.filter(({ verbs: some }) => some?.includes('create'));
  assert.deepEqual(
    creating.map(({ resources }) => resources),
    [['serviceaccounts/token']],
  );
  assert.ok(!JSON.stringify(rightsOf(enrollment, false)).includes('serviceaccounts/token'));
});

test('everything that enrolling makes is taken away, the identity first', () => {
  const made = [memberManifest(enrollment), ...rightsOf(enrollment, true)].map(
    ({ kind, metadata }) => `${kind} ${metadata.name}`,
  );
  const taken = partsOf('db-1').map(({ kind, name }) => `${kind} ${name}`);
  assert.deepEqual(taken.toSorted(), made.toSorted());
  assert.deepEqual([taken[0], taken.at(-1)], ['ServiceAccount reeve-agent-db-1', 'Member db-1']);
});
