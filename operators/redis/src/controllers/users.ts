/**
 * The users that a spec declares, with the passwords of their Secrets. A Secret that is not there, or has no password in it, says nothing
 * of the user: who is in the spec and known to servers already stays as they know him. To leave him out would lock his applications out,
 * and restart every server for it. Whoever is taken out of the spec goes.
 */
import type { DeepReadonly, NewCondition, Waiting } from '@reeve/runtime';
import type { ResourceApi } from '@reeve/runtime/manager';
import type { RedisClusterSpec, RedisClusterStatus } from '../api/cluster.ts';
import type { Secret } from '../api/kinds.ts';
import { keptHash, type NewUser, textOf } from './credentials.ts';

/** A user without a password to go by. */
interface Unproved {
  readonly user: string;
  /** Servers keep the one that they were given before. */
  readonly isKept: boolean;
  readonly why: string;
}

export interface DeclaredUsers {
  readonly users: readonly NewUser[];
  readonly unproved: readonly Unproved[];
  readonly waitingFor: readonly Waiting[];
}

export const USER_SECRET_MISSING = 'UserSecretMissing';
const MOST_TEXT = 2_000;

/** @param present what servers were given last: asked for, live, only where a Secret does not say it. */
export async function usersOf(
  own: Pick<ResourceApi<Secret>, 'find'>,
  spec: DeepReadonly<RedisClusterSpec>,
  present: () => Promise<Secret | undefined>,
  signal: AbortSignal,
): Promise<DeclaredUsers> {
  const users: NewUser[] = [];
  const unproved: Unproved[] = [];
  const waitingFor: Waiting[] = [];
  for (const user of spec.auth?.users ?? []) {
    const { passwordSecret: from } = user;
    const secret = await own.find(from.name, { signal });
    const password = textOf(secret, from.key);
    if (password !== undefined && password !== '') {
      users.push({ ...user, password });
      continue;
    }
    const hash = keptHash(await present(), user.name);
    if (hash !== undefined) users.push({ ...user, hash });
    const why = `user ${user.name}: ${whyNot(secret, password, from)}`;
    unproved.push({ user: user.name, isKept: hash !== undefined, why });
    waitingFor.push({ reason: 'UserSecret', message: why, subjects: [from.name] });
  }
  return { users, unproved, waitingFor };
}

function whyNot(
  secret: Secret | undefined,
  password: string | undefined,
  from: { readonly name: string; readonly key: string },
): string {
  if (!secret) return `there is no secret ${from.name}`;
  return password === undefined
    ? `there is no key ${from.key} in secret ${from.name}`
    : `key ${from.key} of secret ${from.name} is empty`;
}

/** @param unproved undefined: nobody looked, and what was said stands. */
export function userConditions(
  before: RedisClusterStatus['conditions'],
  unproved: readonly Unproved[] | undefined,
): readonly NewCondition[] {
  if (!unproved) return [];
  const type = USER_SECRET_MISSING;
  if (unproved.length > 0) {
    const message = unproved.map(({ why, isKept }) => `${why}. ${isKept ? KEPT : LEFT_OUT}`).join(' ');
    const reason = unproved.every(({ isKept }) => isKept) ? 'PasswordKept' : 'UserLeftOut';
    return [{ type, status: 'True', reason, message: message.slice(0, MOST_TEXT) }];
  }
  const wasSaid = before?.some((one) => one.type === type) ?? false;
  return wasSaid ? [{ type, status: 'False', reason: 'AsAsked', message: '' }] : [];
}

const KEPT =
  'Servers keep the password that they have: bring the Secret back, or take the user out of spec.auth.users if it is to go.';
const LEFT_OUT = 'Servers do not know this user before there is a password: make the Secret, or put the key into it.';
