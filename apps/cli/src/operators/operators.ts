/** The operators that come with Reeve. Whoever runs them, on this machine or on a Kubernetes, runs these. */
import { type AnyObject, discover, type KubeClient, resource } from '@reeve/kube';
import { folderBackups, type RedisOperatorPorts, redisOperator, type Right, snapshotSource } from '@reeve/redis';
import { crdOf, type KindDescription, memberWritePolicy, podAgentRole } from '@reeve/runtime';
import type { Manager, Registry, Runnable } from '@reeve/runtime/manager';
import { peerCertificates } from '../certificates/peers.ts';

export type OperatorPorts = RedisOperatorPorts;

export interface Operator {
  readonly name: string;
  /** What must be installed before it runs. */
  readonly kinds: readonly KindDescription<never, never>[];
  readonly rights: readonly Right[];
  controllers(ports: OperatorPorts, options: { readonly metrics: Registry }): readonly Runnable[];
}

export const operators: readonly Operator[] = [redisOperator as unknown as Operator];

/** Of all operators, each once. */
export function operatorKinds(): Operator['kinds'] {
  return [...new Set(operators.flatMap(({ kinds }) => kinds))];
}

const definitions = resource<AnyObject>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
});

const admission = { group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false } as const;
const agentRuleKinds = [
  resource<AnyObject>({
    group: 'rbac.authorization.k8s.io',
    version: 'v1',
    plural: 'clusterroles',
    kind: 'ClusterRole',
    namespaced: false,
  }),
  resource<AnyObject>({ ...admission, plural: 'validatingadmissionpolicies', kind: 'ValidatingAdmissionPolicy' }),
  resource<AnyObject>({
    ...admission,
    plural: 'validatingadmissionpolicybindings',
    kind: 'ValidatingAdmissionPolicyBinding',
  }),
];

type Named = AnyObject & { readonly metadata: { readonly name: string } };

/** The CustomResourceDefinitions of all operators. */
export function operatorDefinitions(): readonly Named[] {
  return operatorKinds().map((kind) => crdOf(kind as unknown as KindDescription<unknown, unknown>) as unknown as Named);
}

/** Kinds are applied at each start: a new version of Reeve brings its own. */
export async function installKinds(client: KubeClient, signal?: AbortSignal): Promise<void> {
  const api = client.resource(definitions);
  for (const definition of operatorDefinitions()) {
    await api.apply(definition, { fieldManager: 'reeve', force: true, ...(signal && { signal }) });
  }
}

/** What agents in pods may do, and what keeps them to their own members. */
export function agentRules(): readonly Named[] {
  return [podAgentRole(), ...memberWritePolicy()] as readonly unknown[] as readonly Named[];
}

/**
 * What narrows the role of agents comes before the role. On a server that has no such policies neither is installed: operators give the
 * role to nobody there. @returns what could not be installed, and what follows from that, for a person to read.
 */
export async function installAgentRules(client: KubeClient, signal?: AbortSignal): Promise<readonly string[]> {
  const options = signal ? { signal } : {};
  const unserved: string[] = [];
  for (const { group, version, kind } of agentRuleKinds) {
    if (!(await discover(client, { group, version, kind }, options))) unserved.push(kind);
  }
  if (unserved.length > 0) {
    return [
      `the server does not serve ${unserved.join(', ')}: what keeps agents in pods to their own members cannot be installed, and clusters with \`agents: sidecar\` wait for it. Everything else is there`,
    ];
  }
  for (const manifest of agentRules().toReversed()) {
    const kind = agentRuleKinds.find((one) => one.kind === manifest.kind);
    if (!kind) throw new TypeError(`agents have no ${String(manifest.kind)}`);
    await client.resource(kind).apply(manifest, { fieldManager: 'reeve', force: true, ...options });
  }
  return [];
}

/** @param backups the folder that backups are kept in. Without one there are none. */
export function addOperators(manager: Manager, ports: OperatorPorts, backups?: string): void {
  const metrics = manager.measures.registry;
  const parts: OperatorPorts = {
    ...ports,
    certificates: peerCertificates,
    ...(backups !== undefined && {
      backups: { store: folderBackups(backups, ports.ids), snapshotsOf: snapshotSource },
    }),
  };
  for (const operator of operators) {
    for (const controller of operator.controllers(parts, { metrics })) manager.add(controller);
  }
}
