/**
 * Nodes of a data folder beyond those that are wanted now. As long as something is on one, it is run, so that its pods can be reached
 * and ended, but it is cordoned; once nothing is left on it, it is removed.
 */
import { join } from 'node:path';
import { isKubeError, type KubeClient } from '@reeve/kube';
import { type HostFiles, type LocalNode, nodes, pods, type Volume, volumes } from '@reeve/local-node';
import { plural } from '../output/format.ts';
import { nodeFolders } from './data-folder.ts';
import { nodesWith } from './machine.ts';

export interface Retirement {
  readonly files: HostFiles;
  readonly client: KubeClient;
  /** One folder for each node. */
  readonly folder: string;
  readonly wanted: readonly string[];
  open(name: string): Promise<LocalNode>;
}

export interface RetiredNode {
  readonly node: LocalNode;
  /** Pods that are on it, those that have ended included. */
  readonly pods: number;
  /** Volumes whose pods can be on no other node. */
  readonly volumes: number;
}

/** Those that must be run. They are cordoned when this resolves; the others are gone. */
export async function retireNodes({
  files,
  client,
  folder,
  wanted,
  open,
}: Retirement): Promise<readonly RetiredNode[]> {
  const { signal } = new AbortController();
  const kept: RetiredNode[] = [];
  for (const name of await unwanted({ files, client, folder, wanted })) {
    const node = await open(name);
    const { items } = await client.resource(pods).list({ fieldSelector: `spec.nodeName=${name}` });
    const bound = items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
    const left = new Set([...node.podKeys, ...bound]).size;
    if (left > 0) {
      await node.register(signal);
      const all = await client.resource(volumes).list();
      kept.push({ node, pods: left, volumes: all.items.filter((volume) => isBoundTo(volume, name)).length });
      continue;
    }
    await removeObject(client, name);
    await files.remove(join(folder, name));
  }
  return kept;
}

/** By their folders and by their objects: either may be left alone. A folder is ours by its name, too. Objects that nobody of ours has registered are left as they are. */
async function unwanted({ files, client, folder, wanted }: Omit<Retirement, 'open'>): Promise<readonly string[]> {
  const found = await nodeFolders(files, { nodes: folder });
  const folders = found.filter((name) => nodesWith(name) !== undefined);
  const { items } = await client.resource(nodes).list();
  const objects = items
    .filter(({ metadata }) => metadata.managedFields?.some(({ manager }) => manager === `node-${metadata.name}`))
    .map(({ metadata }) => metadata.name);
  return [...new Set([...folders, ...objects])].filter((name) => !wanted.includes(name)).sort();
}

function isBoundTo({ spec }: Volume, name: string): boolean {
  const terms = spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  return terms.some(({ matchExpressions = [] }) =>
    matchExpressions.some(({ key, values }) => key === 'kubernetes.io/hostname' && values?.includes(name)),
  );
}

async function removeObject(client: KubeClient, name: string): Promise<void> {
  try {
    await client.resource(nodes).delete(name);
  } catch (error) {
    if (!isKubeError(error, 'KUBE_NOT_FOUND')) throw error;
  }
}

/** For people: what goes on that they may not expect, and what they can do about it. */
export function retiredLines(retired: readonly RetiredNode[]): readonly string[] {
  return retired.map(({ node: { nodeName }, pods: left, volumes: bound }) => {
    const count = nodesWith(nodeName);
    const again =
      bound === 0
        ? ''
        : ` and runs pods anew that use ${plural(bound, 'volume')} bound to it, which no other node does`;
    const back = count === undefined ? '' : `; --nodes ${count} takes it back${again}`;
    return `${nodeName} is beyond them and takes no new pods; it goes on for ${plural(left, 'pod')}. Delete what is on it and start again, and it is removed${back}`;
  });
}
