/** An embedded API server with roles and a fence, and managers that talk to it in this process or over a socket. */
import { generateKeyPairSync } from 'node:crypto';
import type { TestContext } from 'node:test';
import { AccessControl, ApiServer, listen, memoryJournal, signingKey, Store } from '@reeve/embedded';
import { type AnyObject, KubeClient, type KubeObject, networkTransport, resource, type Transport } from '@reeve/kube';
import { crdOf, kind, schema, systemPorts } from '@reeve/runtime';
import { byImpersonation, controller, fenceRole, installFence, Manager } from '@reeve/runtime/manager';

export type Way = 'in process' | 'over HTTP';

const ROOT = 'the-token-of-the-administrator';
const MANAGER = 'the-token-of-both-managers';
const LEASE = { namespace: 'default', name: 'things' };
const USER = { username: 'reeve' };

const thing = kind({
  group: 'test.dev',
  version: 'v1',
  plural: 'things',
  kind: 'Thing',
  namespaced: true,
  spec: schema.object({ size: schema.integer() }),
  status: schema.object({ size: schema.integer(), by: schema.text() }),
});
export interface Thing extends KubeObject {
  readonly spec: { readonly size: number };
  readonly status?: { readonly size: number; readonly by: string };
}
interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}
export const things = resource<Thing>(thing);
export const configMaps = resource<ConfigMap>({
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
});
const ofRoles = { group: 'rbac.authorization.k8s.io', version: 'v1', namespaced: false } as const;
const clusterRoles = resource({ ...ofRoles, plural: 'clusterroles', kind: 'ClusterRole' });
const clusterRoleBindings = resource({ ...ofRoles, plural: 'clusterrolebindings', kind: 'ClusterRoleBinding' });
const crds = resource({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
});

const everything = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];
const rules = [
  { apiGroups: ['test.dev'], resources: ['things', 'things/status'], verbs: everything },
  { apiGroups: [''], resources: ['configmaps'], verbs: everything },
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: everything },
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: everything },
];

export const carrier = byImpersonation(USER);

export async function openWorld(t: TestContext, way: Way) {
  const { clock, random } = systemPorts;
  const store = await Store.open({ journal: memoryJournal(), clock });
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const key = signingKey(privateKey);
  if (!key) throw new Error('no key');
  const tokens = [
    { token: ROOT, user: { name: 'root', groups: ['system:masters'] } },
    { token: MANAGER, user: { name: USER.username, groups: [] } },
  ];
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const access = new AccessControl({ store, clock, random, keys: [key], tokens });
  const server = await ApiServer.open({ store, clock, random, access, onError });
  await access.install(server.transport(), onError);
  const listener = await listen({ handle: (request, peer) => server.handle(request, peer), onError });
  t.after(async () => {
    server.close();
    await listener.close();
    access[Symbol.dispose]();
    await store.close();
  });

  /** A transport of its own for each: what one holds open is not the other's. */
  const as = (token: string): Transport => {
    const authorization = `Bearer ${token}`;
    if (way === 'in process') {
      return (request) => server.handle({ ...request, headers: { ...request.headers, authorization } });
    }
    const tls = { ca: undefined, certificate: undefined, key: undefined, serverName: undefined, insecure: false };
    const identity = { headers: { authorization }, tls };
    const network = networkTransport(
      { server: listener.url, identity: async () => identity, rejected: async () => false },
      clock,
    );
    t.after(() => network.close());
    return network.transport;
  };

  const root = new KubeClient({ clock, random, transport: as(ROOT) });
  await root.resource(crds).create(crdOf(thing) as unknown as AnyObject);
  const roles = [
    { ...fenceRole('fence', USER), metadata: { name: 'fence' } },
    { metadata: { name: 'things' }, rules },
  ];
  for (const role of roles) {
    await root.resource(clusterRoles).create(role as unknown as AnyObject);
    const { name } = role.metadata;
    await root.resource(clusterRoleBindings).create({
      metadata: { name },
      roleRef: { apiGroup: ofRoles.group, kind: 'ClusterRole', name },
      subjects: [{ apiGroup: ofRoles.group, kind: 'User', name: USER.username }],
    } as unknown as AnyObject);
  }
  const fenced = [
    { apiGroups: ['test.dev'], resources: ['things', 'things/status'] },
    { apiGroups: [''], resources: ['configmaps'] },
  ];
  await installFence(root, { name: 'things', lease: LEASE, ...USER, rules: fenced }, carrier);
  return { store, root, errors, listener, managerTransport: () => as(MANAGER) };
}

export type World = Awaited<ReturnType<typeof openWorld>>;

/** A manager that keeps a ConfigMap for each Thing, and says who wrote the status. */
export function startManager({ managerTransport }: World, identity: string) {
  const lines: string[] = [];
  const transport = managerTransport();
  const manager = new Manager(systemPorts, {
    name: 'things',
    transport,
    election: { ...LEASE, identity, leaseMs: 30_000, renewMs: 20_000, retryMs: 200 },
    fencing: { carrier, settleMs: 0, lookMs: 50 },
    log: (message, fields) => void lines.push(`${message} ${JSON.stringify(fields)}`),
  }).add(
    controller<Thing>({
      name: 'things',
      kind: things,
      async reconcile({ object, apply, status }) {
        const { size } = object.spec;
        await apply(configMaps, { metadata: { name: object.metadata.name }, data: { size: String(size) } });
        await status({ size, by: identity });
      },
    }),
  );
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  return {
    manager,
    lines,
    transport,
    async end(): Promise<void> {
      stop.abort();
      await running;
    },
  };
}
