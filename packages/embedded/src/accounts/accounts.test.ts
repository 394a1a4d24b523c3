import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnyObject, resource } from '@reeve/kube';
import type { Draft } from '../object/draft.ts';
import { namespaces, openServer, pods, refused } from '../server/server-testing.ts';
import { giveAccount } from './pod-account.ts';

const accounts = resource({
  group: '',
  version: 'v1',
  plural: 'serviceaccounts',
  kind: 'ServiceAccount',
  namespaced: true,
});
const TOKEN_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';

const account = (more: object = {}): Draft => ({ metadata: { name: 'default' }, ...more });
const pod = (spec: object = {}): Draft & { spec: AnyObject } =>
  ({ metadata: { name: 'p' }, spec: { containers: [{ name: 'a' }, { name: 'b' }], ...spec } }) as never;
const given = (one: Draft, from = account()): AnyObject => {
  giveAccount(one, from, (base) => `${base}xxxxx`);
  return one.spec as unknown as AnyObject;
};

const MOUNT = { name: 'kube-api-access-xxxxx', readOnly: true, mountPath: TOKEN_PATH };

test('a pod gets the account, its token in every container, and the secrets of the account', () => {
  const spec = given(pod({ initContainers: [{ name: 'i' }] }), account({ imagePullSecrets: [{ name: 's', more: 1 }] }));
  assert.equal(spec.serviceAccountName, 'default');
  assert.equal(spec.serviceAccount, 'default');
  assert.deepEqual(spec.imagePullSecrets, [{ name: 's' }]);
  assert.deepEqual(spec.initContainers, [{ name: 'i', volumeMounts: [MOUNT] }]);
  assert.deepEqual(spec.containers, [
    { name: 'a', volumeMounts: [MOUNT] },
    { name: 'b', volumeMounts: [MOUNT] },
  ]);
  assert.deepEqual(spec.volumes, [
    {
      name: 'kube-api-access-xxxxx',
      projected: {
        sources: [
          { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
          { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
          {
            downwardAPI: {
              items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
            },
          },
        ],
        defaultMode: 420,
      },
    },
  ]);
});

test('who says no gets no token: the pod first, then the account', () => {
  const none = (spec: AnyObject) =>
    assert.deepEqual([spec.volumes, spec.containers], [undefined, [{ name: 'a' }, { name: 'b' }]]);
  none(given(pod({ automountServiceAccountToken: false })));
  none(given(pod({ automountServiceAccountToken: false }), account({ automountServiceAccountToken: true })));
  none(given(pod(), account({ automountServiceAccountToken: false })));
  const yes = given(pod({ automountServiceAccountToken: true }), account({ automountServiceAccountToken: false }));
  assert.equal((yes.volumes as readonly unknown[]).length, 1);
});

test('what a pod brings stays: mounts at that path, a volume of that sort, its own secrets', () => {
  const own = { name: 'mine', mountPath: TOKEN_PATH };
  const spec = given(
    pod({
      containers: [{ name: 'a', volumeMounts: [own] }],
      volumes: [{ name: 'mine', emptyDir: {} }],
      imagePullSecrets: [{ name: 'own' }],
      serviceAccountName: 'robot',
    }),
    account({ imagePullSecrets: [{ name: 's' }] }),
  );
  assert.deepEqual(spec.volumes, [{ name: 'mine', emptyDir: {} }]);
  assert.deepEqual(spec.imagePullSecrets, [{ name: 'own' }]);
  assert.equal(spec.serviceAccountName, 'robot');
  const volumes = [{ name: 'kube-api-access-mine', emptyDir: {} }];
  const second = given(pod({ containers: [{ name: 'a' }], volumes }));
  assert.deepEqual(second.volumes, volumes);
  assert.deepEqual(second.containers, [{ name: 'a', volumeMounts: [{ ...MOUNT, name: 'kube-api-access-mine' }] }]);
});

const spec = { containers: [{ name: 'main', image: 'host' }] };

test('the server gives it to new pods, and it belongs to nobody', async () => {
  const { of } = await openServer({ serviceAccounts: true });
  await of(accounts).create({ metadata: { name: 'default' } });
  const made: AnyObject = await of(pods).create({ metadata: { name: 'p' }, spec });
  const { volumes, serviceAccountName } = made.spec as AnyObject;
  assert.equal(serviceAccountName, 'default');
  assert.match((volumes as readonly { readonly name: string }[])[0]?.name ?? '', /^kube-api-access-[a-z0-9]{5}$/);
  const owned = JSON.stringify(made.metadata?.managedFields);
  assert.ok(owned.includes('f:containers') && !owned.includes('f:volumes'), owned);
  // Applying what one applied before changes nothing.
  const applied = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'q' }, spec };
  const first = await of(pods).apply(applied as never, { fieldManager: 'me' });
  const second = await of(pods).apply(applied as never, { fieldManager: 'me' });
  assert.equal(first.metadata.resourceVersion, second.metadata.resourceVersion);
});

test('an account that is not there is refused; without the option nothing is asked', async () => {
  const { of } = await openServer({ serviceAccounts: true });
  const missing = await refused(
    of(pods).create({ metadata: { name: 'p' }, spec: { ...spec, serviceAccountName: 'robot' } }),
  );
  assert.deepEqual(
    [missing.code, missing.reason, missing.message],
    [
      403,
      'Forbidden',
      'pods "p" is forbidden: error looking up service account default/robot: serviceaccount "robot" not found',
    ],
  );
  const generated = { metadata: { generateName: 'p-' }, spec: { ...spec, serviceAccountName: 'robot' } };
  assert.match((await refused(of(pods).create(generated as never))).message ?? '', /^pods "p-" is forbidden: /);
  const plain = await openServer();
  const made: AnyObject = await plain.of(pods).create({ metadata: { name: 'p' }, spec });
  assert.equal((made.spec as AnyObject).serviceAccountName, undefined);
});

test('the account that every namespace gets is waited for, and not for ever', async () => {
  const { of, clock } = await openServer({ serviceAccounts: true });
  await of(namespaces).create({ metadata: { name: 'new' } });
  const coming = of(pods, 'new').create({ metadata: { name: 'p' }, spec });
  await clock.advance(300);
  await of(accounts, 'new').create({ metadata: { name: 'default' } });
  await clock.advance(300);
  assert.equal((await coming).metadata.name, 'p');
  await of(namespaces).create({ metadata: { name: 'newer' } });
  const applied = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec };
  const applying = of(pods, 'newer').apply(applied as never, { fieldManager: 'me' });
  await clock.advance(300);
  await of(accounts, 'newer').create({ metadata: { name: 'default' } });
  await clock.advance(300);
  assert.equal((await applying).metadata.name, 'p');
  const never = refused(of(pods).create({ metadata: { name: 'p' }, spec }));
  await clock.advance(3_000);
  assert.match((await never).message ?? '', /serviceaccount "default" not found$/);
});
