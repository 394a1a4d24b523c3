/** Who follows a kind in the benchmark. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { clientNodeModule, clientNodeVersion, goOpponents, goVersionOf } from '../kubernetes/opponents.ts';
import { NAMESPACE, type ResourceName } from '../kubernetes/objects.ts';
import type { FollowerOrder } from '../process/follower.ts';
import { LineProcess, type Started } from '../process/line-process.ts';
import type { Usage } from '../process/usage.ts';

/** `reeve, read` reads every field of every object; the others hand objects on, and nobody looks into them. */
export type FollowerName =
  | 'reeve'
  | 'reeve, read'
  | 'client-node'
  | 'client-go dynamic'
  | 'client-go typed'
  | 'client-go protobuf';

export interface Follower {
  readonly name: FollowerName;
  /** With its version. */
  readonly title: string;
  start(kubeconfig: string, resource: ResourceName): Started;
}

export interface Running extends AsyncDisposable {
  readonly name: FollowerName;
  /** What it held before the list. */
  readonly heapBefore: number;
  ask(order: FollowerOrder): Promise<Usage>;
}

/** Custom resources have no types in Go unless somebody writes them, and no protobuf at all. */
const FOLLOWS: Readonly<Record<ResourceName, readonly FollowerName[]>> = {
  widgets: ['reeve', 'reeve, read', 'client-go dynamic', 'client-node'],
  pods: ['reeve', 'reeve, read', 'client-go dynamic', 'client-go typed', 'client-go protobuf', 'client-node'],
};

const PATIENCE_MS = 15 * 60_000;

/**
 * Who can list 100,000 Pods here. The dynamic client takes 14 GB meanwhile: with a server that holds them as well (9 GB) a machine of 24 GB
 * stands still. client-node reads a list into one text, and V8 has none of 900 MB. What they need for each Pod is known from fewer.
 */
export function fits(name: FollowerName, resource: ResourceName, objects: number): boolean {
  return resource !== 'pods' || objects <= 20_000 || (name !== 'client-go dynamic' && name !== 'client-node');
}

/** @param strip makes the opponents drop managed fields, as this runtime always does. */
export async function followersOf(resource: ResourceName, strip: boolean): Promise<readonly Follower[]> {
  const programs = { go: await goOpponents(), clientNode: await clientNodeModule(), strip };
  return FOLLOWS[resource].map((name) => follower(name, programs));
}

interface Programs {
  readonly go: string;
  readonly clientNode: string;
  readonly strip: boolean;
}

function follower(name: FollowerName, programs: Programs): Follower {
  if (name === 'reeve' || name === 'reeve, read') {
    const reads = name === 'reeve, read';
    const title = `reeve ${ownVersion()} (${node})${reads ? ', every field read' : ''}`;
    return { name, title, start: inNode('./ours.ts', reads ? 'read' : '') };
  }
  if (name === 'client-node') {
    const title = `@kubernetes/client-node ${clientNodeVersion()} (${node})`;
    return { name, title, start: inNode('./client-node.ts', programs.clientNode, programs.strip ? 'strip' : '') };
  }
  const flavour = name.replace('client-go ', '');
  return {
    name,
    title: `client-go ${goVersionOf('k8s.io/client-go')}, ${flavour} informer`,
    start: (kubeconfig, resource) => ({
      command: programs.go,
      args: [
        'follow',
        `-kubeconfig=${kubeconfig}`,
        `-flavour=${flavour}`,
        `-resource=${resource}`,
        `-namespace=${NAMESPACE}`,
        ...(programs.strip ? ['-strip'] : []),
      ],
      // So that its list ends before its watch begins, as with the others.
      env: { KUBE_FEATURE_WatchListClient: 'false' },
    }),
  };
}

const node = `Node ${process.versions.node}`;

const inNode =
  (script: string, ...more: readonly string[]) =>
  (kubeconfig: string, resource: ResourceName): Started => ({
    command: process.execPath,
    args: [
      '--expose-gc',
      '--max-old-space-size=8192',
      fileURLToPath(new URL(script, import.meta.url)),
      kubeconfig,
      resource,
      ...more,
    ],
  });

function ownVersion(): string {
  const file = new URL(import.meta.resolve('@reeve/runtime').replace(/src\/.*$/, 'package.json'));
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

/** Resolves when it has listed everything. */
export async function run({ name, start }: Follower, kubeconfig: string, resource: ResourceName): Promise<Running> {
  const child = new LineProcess(name, start(kubeconfig, resource));
  try {
    const { heapBytes } = await child.next<Usage>(PATIENCE_MS);
    return {
      name,
      heapBefore: heapBytes,
      ask: (order) => child.ask<Usage>(order, PATIENCE_MS),
      [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
    };
  } catch (error) {
    await child[Symbol.asyncDispose]();
    throw error;
  }
}
