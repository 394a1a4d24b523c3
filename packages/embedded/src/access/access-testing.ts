/** A server with access control for tests. */
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { stringifyJson } from '@reeve/kube';
import { memoryJournal } from '../store/journal.ts';
import { Store } from '../store/store.ts';
import { ApiServer } from '../server/server.ts';
import { testClock, testRandom } from '../server/server-testing.ts';
import { AccessControl, type AccessOptions } from './access-control.ts';
import type { User } from './access.ts';
import { type SigningKey, signingKey } from './jwt.ts';
import type { StaticToken } from './static-tokens.ts';

export const newKey = (type: 'ec' | 'rsa' = 'ec'): SigningKey => {
  const pair =
    type === 'ec'
      ? generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
      : generateKeyPairSync('rsa', { modulusLength: 2048 });
  return signingKey(createPrivateKey(pair.privateKey.export({ type: 'pkcs8', format: 'pem' }))) as SigningKey;
};

export const tokenOf = (name: string): string => `static-token-of-${name}`;
const person = (name: string, ...groups: readonly string[]): StaticToken => ({
  token: tokenOf(name),
  user: { name, groups },
});

export const people: readonly StaticToken[] = [person('root', 'system:masters'), person('ann', 'devs'), person('bob')];

export interface Answer {
  readonly status: number;
  readonly json: Record<string, never> & AnswerJson;
}

/** What tests look at in answers. */
export interface AnswerJson {
  readonly message?: string;
  readonly reason?: string;
  readonly metadata: Readonly<Record<string, unknown>> & { readonly uid?: string };
  readonly status: {
    readonly token?: string;
    readonly error?: string;
    readonly allowed?: boolean;
    readonly reason?: string;
    readonly authenticated?: boolean;
    readonly userInfo?: unknown;
    readonly user?: Readonly<Record<string, unknown>>;
  };
  readonly rules?: readonly Readonly<Record<string, unknown>>[];
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
type Headers = Readonly<Record<string, string | readonly string[]>>;

export async function openAccess(options: Partial<AccessOptions> = {}) {
  const clock = testClock();
  const random = testRandom();
  const store = await Store.open({ journal: memoryJournal(), clock });
  const access = new AccessControl({ store, clock, random, keys: [newKey()], tokens: people, ...options });
  const errors: unknown[] = [];
  const server = await ApiServer.open({ store, clock, random, access, onError: (error) => errors.push(error) });
  await access.install(server.transport(), (error) => errors.push(error));
  const send = async (token: string, method: Method, path: string, body?: unknown, headers: Headers = {}) => {
    const response = await server.handle({
      method,
      path,
      headers: {
        ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
        'content-type': 'application/json',
        ...headers,
      },
      ...(body === undefined ? {} : { body: stringifyJson(body) }),
    });
    const chunks: Uint8Array[] = [];
    if (response.body instanceof Uint8Array) chunks.push(response.body);
    else for await (const chunk of response.body) chunks.push(chunk);
    return { status: response.status, json: JSON.parse(Buffer.concat(chunks).toString()) as Answer['json'] };
  };
  /** As somebody of `people`. */
  const as = (name: string, method: Method, path: string, body?: unknown, headers?: Headers): Promise<Answer> =>
    send(tokenOf(name), method, path, body, headers);
  const whoami = (token: string, headers?: Headers): Promise<User> =>
    send(token, 'POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {}, headers).then(({ json }) => {
      const { username, ...rest } = json.status.userInfo as { username: string; groups: readonly string[] };
      return { name: username, ...rest };
    });
  return { access, server, store, clock, send, as, whoami, errors };
}

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
export const CLUSTER_ROLES = `${RBAC}/clusterroles`;
export const CLUSTER_BINDINGS = `${RBAC}/clusterrolebindings`;
export const ROLES = `${RBAC}/namespaces/default/roles`;
export const BINDINGS = `${RBAC}/namespaces/default/rolebindings`;

export const role = (name: string, ...rules: readonly object[]) => ({ metadata: { name }, rules });
export const binding = (name: string, to: string, user: string, kind = 'ClusterRole') => ({
  metadata: { name },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: to },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
});
export const rule = (verbs: readonly string[], group: string, ...resources: readonly string[]) => ({
  verbs,
  apiGroups: [group],
  resources,
});
