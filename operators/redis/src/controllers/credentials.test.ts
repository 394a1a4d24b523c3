import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { connectOptionsOf, secretOf, textOf } from './credentials.ts';

const never = () => assert.fail('a new password for servers that run with the old one');

test('passwords are made once and kept; servers get hashes, and replication its own file', () => {
  let made = 0;
  const first = secretOf('c', undefined, [], () => `p${++made}`);
  assert.equal(textOf(first, 'password'), 'p1');
  assert.equal(textOf(first, 'users.acl')?.includes('p1'), false);
  assert.ok(textOf(first, 'users.acl')?.includes(`user default on #${hash('sha256', 'p1', 'hex')} ~* &* +@all`));
  assert.equal(textOf(first, 'auth.conf'), 'masteruser reeve\nmasterauth p2\n');
  assert.deepEqual(secretOf('c', first, [], never), first);
  assert.deepEqual(connectOptionsOf(first), { username: 'reeve', password: 'p2' });
  assert.equal(connectOptionsOf(undefined), undefined);
});

test('users of the spec are in the list of users with their rules', () => {
  const user = { name: 'app', rules: '~app:* +@read', passwordSecret: { name: 's', key: 'k' }, password: 'word' };
  const secret = secretOf('c', undefined, [user], () => 'p');
  assert.ok(textOf(secret, 'users.acl')?.includes(`user app on #${hash('sha256', 'word', 'hex')} ~app:* +@read\n`));
});
