/** Users of a spec whose Secrets come, go and come back: nobody is locked out by what could not be read. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { secrets } from '../../src/api/kinds.ts';
import { NAMESPACE, OperatorWorld } from './world.ts';

const condition = (world: OperatorWorld, type: string) =>
  world.status('c').conditions?.find((one) => one.type === type);
const base64 = (text: string) => Buffer.from(text).toString('base64');
const acl = (world: OperatorWorld) => Buffer.from(world.secret('c-auth')?.['users.acl'] ?? '', 'base64').toString();
const told = async (world: OperatorWorld) =>
  (await world.events()).filter(({ reason }) => reason === 'UserSecretMissing').map(({ note }) => note);
const kept = (world: OperatorWorld) => world.api.client.resource(secrets, NAMESPACE);
const make = (world: OperatorWorld, password: string) =>
  kept(world).create({ metadata: { name: 'app' }, data: { p: base64(password) } } as never);
const user = { name: 'app', rules: '~* +@all', passwordSecret: { name: 'app', key: 'p' } };
const line = (password: string, rules = user.rules) => `user app on #${hash('sha256', password, 'hex')} ${rules}\n`;

async function running(t: Parameters<typeof OperatorWorld.start>[0]): Promise<OperatorWorld> {
  const world = await OperatorWorld.start(t);
  await make(world, 'hello');
  await world.create('c', { storage: { size: '1Gi' }, auth: { users: [user] } });
  await world.until('the cluster runs', () => world.status('c').phase === 'Running');
  assert.ok(acl(world).endsWith(line('hello')));
  assert.equal(condition(world, 'UserSecretMissing'), undefined);
  return world;
}

const losses: readonly (readonly [string, RegExp, (world: OperatorWorld) => Promise<unknown>])[] = [
  ['is deleted', /^user app: there is no secret app\. Servers keep/, (world) => world.deleteSecret('app')],
  [
    'has no such key any more',
    /^user app: there is no key p in secret app\. Servers keep/,
    (world) => kept(world).patch('app', { type: 'merge', value: { data: { p: null } } }),
  ],
  [
    'has an empty password',
    /^user app: key p of secret app is empty\. Servers keep/,
    (world) => kept(world).patch('app', { type: 'merge', value: { data: { p: '' } } }),
  ],
];

for (const [what, says, lose] of losses) {
  test(`a user whose secret ${what} stays as servers know him: no server is restarted, and it is told`, async (t) => {
    const world = await running(t);
    const [before, pods] = [acl(world), world.podUids];
    await lose(world);
    await world.until('it is told', () => condition(world, 'UserSecretMissing')?.status === 'True');
    await world.stopManager();
    world.startManager();
    await world.pass(120_000);
    assert.equal(acl(world), before);
    assert.deepEqual(world.podUids, pods);
    assert.equal(condition(world, 'UserSecretMissing')?.reason, 'PasswordKept');
    assert.match(condition(world, 'UserSecretMissing')?.message ?? '', says);
    assert.equal((await told(world)).length, 1, 'once, whoever comes after');
    assert.deepEqual(
      world.status('c').waitingFor?.map(({ reason, subjects }) => [reason, ...subjects]),
      [['UserSecret', 'app']],
    );
  });
}

test('a secret that comes back counts again, and a user who is taken out of the spec goes', async (t) => {
  const world = await running(t);
  await world.deleteSecret('app');
  await world.until('it is told', () => condition(world, 'UserSecretMissing')?.status === 'True');
  await world.patch('c', { spec: { auth: { users: [{ ...user, rules: '~a:* +@read' }] } } });
  await world.until('rules change all the same', () => acl(world).endsWith(line('hello', '~a:* +@read')));
  await make(world, 'other');
  await world.until('the new password is taken', () => acl(world).endsWith(line('other', '~a:* +@read')));
  await world.until('it is over', () => condition(world, 'UserSecretMissing')?.status === 'False');
  await world.deleteSecret('app');
  await world.patch('c', { spec: { auth: { users: [] } } });
  await world.until('the user is gone', () => !acl(world).includes('user app'));
});

test('a user who never had a password is left out, and told', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', { storage: { size: '1Gi' }, auth: { users: [user] } });
  await world.until('the cluster runs', () => world.status('c').phase === 'Running');
  assert.equal(condition(world, 'UserSecretMissing')?.reason, 'UserLeftOut');
  assert.match((await told(world))[0] ?? '', /there is no secret app\. Servers do not know this user/);
  await make(world, 'hello');
  await world.until('the user is there', () => acl(world).endsWith(line('hello')));
});
