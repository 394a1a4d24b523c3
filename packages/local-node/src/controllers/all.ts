/** All that a control plane runs besides its nodes. */
import { type Clock, KubeClient, type Random, type Transport } from '@reeve/kube';
import type { Manager, Runnable } from '@reeve/runtime/manager';
import { Scheduler } from '../scheduler/controller.ts';
import { GarbageKeeper } from './garbage/keeper.ts';
import { NamespaceController } from './namespace/controller.ts';
import { StatefulSetController } from './statefulset/controller.ts';
import { VolumeClaimController } from './volumeclaim/controller.ts';
import { ClaimProtection } from './volumeclaim/protection.ts';
import { systemDirectories } from './volumeclaim/system-directories.ts';
import { VolumeController } from './volumeclaim/volumes.ts';

export interface WorkloadOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly transport: Transport;
  /** Runs them: garbage collection adds and removes controllers as kinds come and go. */
  readonly host: Pick<Manager, 'add' | 'remove'>;
  /** The folder in which volumes are made. */
  readonly volumes: string;
}

export function workloadControllers({ clock, random, transport, host, volumes }: WorkloadOptions): readonly Runnable[] {
  const client = new KubeClient({ clock, random, transport });
  const directories = systemDirectories(volumes);
  return [
    new Scheduler(),
    new StatefulSetController(),
    new VolumeClaimController(directories),
    new VolumeController(directories),
    new ClaimProtection(),
    new NamespaceController(client),
    new GarbageKeeper({ clock, client, host }),
  ];
}
