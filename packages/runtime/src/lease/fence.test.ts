import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeClient } from '@reeve/kube';
import { TestApi } from '../manager/api-testing.ts';
import { constantRandom, VirtualClock } from '../ports/virtual-clock-testing.ts';
import { byImpersonation, byPod, fence, fenceRole, podIdentity } from './fence.ts';
import { installFence, whoAmI } from './install.ts';

const options = {
  name: 'reeve-fence',
  lease: { namespace: 'reeve', name: 'manager' },
  username: 'system:serviceaccount:reeve:manager',
  rules: [{ apiGroups: ['redis.reeve.dev'], resources: ['redisclusters', 'redisclusters/*'] }],
};

test('the policy takes the Lease as parameter, refuses when in doubt, and concerns only the manager', () => {
  const { policy, binding } = fence(options, byImpersonation(options));
  const spec = policy.spec as Record<string, never>;
  assert.deepEqual(spec.paramKind, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' });
  assert.equal(spec.failurePolicy, 'Fail');
  assert.match(JSON.stringify(spec.matchConditions), /userInfo.username == 'system:serviceaccount:reeve:manager'/);
  assert.deepEqual(binding.spec.paramRef, {
    name: 'manager',
    namespace: 'reeve',
    parameterNotFoundAction: 'Deny',
  });
  assert.deepEqual(binding.spec.validationActions, ['Deny']);
});

test('it covers creates, updates and deletes of the named kinds and the probe, never leases or everything', () => {
  const { policy } = fence(options, byImpersonation(options));
  const { resourceRules } = policy.spec.matchConstraints as { resourceRules: readonly Record<string, string[]>[] };
  for (const { operations } of resourceRules) assert.deepEqual(operations, ['CREATE', 'UPDATE', 'DELETE']);
  assert.deepEqual(resourceRules.at(-1)?.resourceNames, ['manager-fence-probe']);
  assert.doesNotMatch(JSON.stringify(resourceRules), /leases|"\*\/\*"/);
});

test('a text in CEL cannot be left by a quote in a name', () => {
  const { policy } = fence({ ...options, username: "x' || true || '" }, byPod());
  assert.match(JSON.stringify(policy.spec.matchConditions), /'x\\\\' \|\| true \|\| \\\\''/);
});

test('a write says its term: as oneself with one more fact, of a service account without groups', () => {
  const account = byImpersonation({ username: options.username, groups: ['system:serviceaccounts'] });
  assert.deepEqual(account.headers('7/a'), {
    'impersonate-user': options.username,
    'impersonate-extra-reeve-fence': '7/a',
  });
  const admin = byImpersonation({ username: 'admin', groups: ['system:masters', 'system:authenticated'] });
  assert.deepEqual(admin.headers('7/a')['impersonate-group'], ['system:masters']);
  assert.deepEqual(byPod().headers('7/a'), {});
  assert.equal(podIdentity({ name: 'p', uid: 'u' }), 'p/u');
});

test('the role lets an account or a user be itself, and nobody else', () => {
  const { rules } = fenceRole('reeve-fence', options);
  assert.deepEqual(rules, [
    { apiGroups: [''], resources: ['serviceaccounts'], verbs: ['impersonate'], resourceNames: ['manager'] },
    { apiGroups: ['authentication.k8s.io'], resources: ['userextras/reeve-fence'], verbs: ['impersonate'] },
  ]);
  const user = fenceRole('reeve-fence', { username: 'jo', groups: ['ops', 'system:authenticated'] });
  assert.deepEqual(
    user.rules.map(({ resources, resourceNames }) => [resources?.[0], resourceNames]),
    [
      ['users', ['jo']],
      ['groups', ['ops']],
      ['userextras/reeve-fence', undefined],
    ],
  );
});

test('it is put up in the order that locks nobody out: Lease, policy, binding; a Lease that is there is left alone', async () => {
  const api = new TestApi();
  const client = new KubeClient({ clock: new VirtualClock(), random: constantRandom(0), transport: api.transport });
  await installFence(client, options, byPod());
  const admission = 'admissionregistration.k8s.io';
  const policyWrites = [
    `PATCH ${admission}/validatingadmissionpolicies/reeve-fence`,
    `PATCH ${admission}/validatingadmissionpolicybindings/reeve-fence`,
  ];
  assert.deepEqual(api.writes, ['POST coordination.k8s.io/leases', ...policyWrites]);
  await installFence(client, options, byPod());
  assert.deepEqual(api.writes.slice(3), policyWrites);
  assert.deepEqual(await whoAmI(client), { username: '', groups: [] }, 'this server knows nobody');
});
