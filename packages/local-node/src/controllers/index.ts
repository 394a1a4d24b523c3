/** All controllers of the local control plane, and how to put them into a manager. */
import type { KubeClient } from '@reeve/kube';
import type { Clock } from '@reeve/runtime';
import type { BudgetRates, Log, Manager } from '@reeve/runtime/manager';
import { Scheduler } from '../scheduler/controller.ts';
import { DeploymentController } from './deployment/controller.ts';
import { EndpointsController } from './endpoints/controller.ts';
import { PodEvictor } from './eviction/controller.ts';
import { GarbageKeeper } from './garbage/keeper.ts';
import { JobController } from './job/controller.ts';
import { AccountController } from './namespace/account.ts';
import { NamespaceController } from './namespace/controller.ts';
import { RootCaPublisher } from './namespace/root-ca.ts';
import { PodCollector } from './podgc/controller.ts';
import { ReplicaSetController } from './replicaset/controller.ts';
import { StatefulSetController } from './statefulset/controller.ts';
import { VolumeClaimController } from './volumeclaim/controller.ts';
import type { Directories } from './volumeclaim/directories.ts';
import { ClaimProtection } from './volumeclaim/protection.ts';
import { VolumeController } from './volumeclaim/volumes.ts';

export type { Directories } from './volumeclaim/directories.ts';
export { PROVISIONER } from './volumeclaim/plan.ts';
export { systemDirectories } from './volumeclaim/system-directories.ts';

export interface ControlPlanePorts {
  readonly clock: Clock;
  /** For discovery: which kinds there are. */
  readonly client: Pick<KubeClient, 'read'>;
  readonly directories: Directories;
  /** The authority of the API server in PEM, for pods. Without it none is told of one. */
  readonly rootCa?: string;
  readonly log?: Log;
}

/**
 * For the manager of a control plane whose server is in the same process, or serves nobody else: the usual rates are those of a guest on
 * a server of others, and a hundred pods at once would wait for them.
 */
export const controlPlaneBudget: Omit<BudgetRates, 'lease'> = {
  delete: { perSecond: 1_000, burst: 2_000 },
  write: { perSecond: 2_000, burst: 5_000 },
  read: { perSecond: 5_000, burst: 10_000 },
  event: { perSecond: 100, burst: 500 },
};

/** Scheduler and controllers, in this manager; it may have others, too. */
export function addControlPlane(manager: Manager, ports: ControlPlanePorts): void {
  const { clock, client, directories, rootCa, log } = ports;
  const all = [
    new Scheduler(),
    new StatefulSetController(),
    new JobController(),
    new ReplicaSetController(),
    new DeploymentController(),
    new EndpointsController(),
    new VolumeClaimController(directories),
    new VolumeController(directories),
    new ClaimProtection(),
    new PodCollector(),
    new PodEvictor(),
    new NamespaceController(client),
    new AccountController(),
    ...(rootCa === undefined ? [] : [new RootCaPublisher(rootCa)]),
    new GarbageKeeper({ clock, client, host: manager, ...(log && { log }) }),
  ];
  for (const one of all) manager.add(one);
}
