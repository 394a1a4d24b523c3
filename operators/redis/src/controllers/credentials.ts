/** The passwords of a cluster: made once, kept in its Secret, never anywhere else. */
import { hash } from 'node:crypto';
import { ADMINISTRATOR, type RedisClusterSpec } from '../api/cluster.ts';
import type { Secret } from '../api/kinds.ts';
import type { ConnectOptions } from '../client/client.ts';
import { labelsOf, namesOf } from '../plan/children.ts';

/** The password of the user `default`, for clients. */
const PASSWORD = 'password';
const ADMIN_PASSWORD = 'admin-password';
const USERS = 'users.acl';

type User = NonNullable<NonNullable<RedisClusterSpec['auth']>['users']>[number];

/** With the password of its Secret, or, where that does not say it, with the hash that servers have of it. */
export type NewUser = User & ({ readonly password: string } | { readonly hash: string });

/**
 * The Secret as it should be. Passwords that are there stay; `newPassword` is asked for those that are not. Servers read the ACL file
 * and the lines for replication at their start.
 */
export function secretOf(
  cluster: string,
  present: Secret | undefined,
  users: readonly NewUser[],
  newPassword: () => string,
): Secret & { readonly metadata: { readonly name: string } } {
  const kept = (key: string) => textOf(present, key) ?? newPassword();
  const password = kept(PASSWORD);
  const adminPassword = kept(ADMIN_PASSWORD);
  const acl = [
    `user default on ${hashed(password)} ~* &* +@all`,
    `user ${ADMINISTRATOR} on ${hashed(adminPassword)} ~* &* +@all`,
    ...users.map((user) => `user ${user.name} on ${'hash' in user ? user.hash : hashed(user.password)} ${user.rules}`),
  ];
  const data = {
    [PASSWORD]: password,
    [ADMIN_PASSWORD]: adminPassword,
    [USERS]: `${acl.join('\n')}\n`,
    'auth.conf': `masteruser ${ADMINISTRATOR}\nmasterauth ${adminPassword}\n`,
  };
  return {
    metadata: { name: namesOf(cluster).secret, labels: labelsOf(cluster) },
    type: 'Opaque',
    data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')])),
  };
}

/** How the operator is let in, or undefined while there is no Secret. */
export function connectOptionsOf(secret: Secret | undefined): ConnectOptions | undefined {
  const password = textOf(secret, ADMIN_PASSWORD);
  return password === undefined ? undefined : { username: ADMINISTRATOR, password };
}

/** What servers know of a user's password, as they were given it last. */
export function keptHash(secret: Secret | undefined, user: string): string | undefined {
  const lines = (textOf(secret, USERS) ?? '').split('\n').map((line) => line.split(' '));
  const known = lines.find(([word, name]) => word === 'user' && name === user)?.[3];
  return known?.startsWith('#') ? known : undefined;
}

export function textOf(secret: Secret | undefined, key: string): string | undefined {
  const value = secret?.data?.[key];
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString();
}

function hashed(password: string): string {
  return `#${hash('sha256', password, 'hex')}`;
}
