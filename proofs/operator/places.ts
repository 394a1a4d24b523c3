/** Hosts and zones that are lost, and come back. */
import { tryToKill } from '@reeve/cli/plane-testing';
import { until } from '@reeve/rig';
import { workerNodes } from '../site/kinds.ts';
import { treeOf, treesOf } from '../site/processes.ts';
import { PATIENCE_MS, type Site } from '../site/site.ts';

const LOST = { key: 'proof.reeve.dev/lost', effect: 'NoExecute' };

/**
 * Everything on these worker nodes dies at once, and nothing can be there until they are back: a taint keeps it away. The taint comes
 * first, by milliseconds, or the node would begin anew what was killed.
 */
export async function lose(site: Site, nodes: readonly string[]): Promise<number> {
  const doomed = treesOf(
    site,
    (await site.allPods()).filter(({ spec }) => nodes.includes(spec?.nodeName ?? '')),
  );
  const pids = site.machine.processes().filter((pid) => treeOf(pid, doomed));
  await taint(site, nodes, [LOST]);
  for (const pid of [...doomed.map(({ shim }) => shim), ...pids]) tryToKill(pid);
  const gone = new Set(doomed.map(({ pod }) => pod.metadata.uid));
  await until(
    'their pods are gone',
    async () => !(await site.allPods()).some(({ metadata }) => gone.has(metadata.uid)),
    { timeoutMs: PATIENCE_MS },
  );
  return doomed.length;
}

export function bringBack(site: Site, nodes: readonly string[]): Promise<void> {
  return taint(site, nodes, []);
}

async function taint(site: Site, nodes: readonly string[], taints: readonly object[]): Promise<void> {
  const api = (await site.client()).resource(workerNodes);
  for (const name of nodes) await api.patch(name, { type: 'merge', value: { spec: { taints } } });
}

/** Worker nodes of a zone. */
export async function nodesOfZone(site: Site, zone: string): Promise<readonly string[]> {
  const { items } = await (await site.client()).resource(workerNodes).list();
  return items
    .filter(({ metadata }) => metadata.labels?.['topology.kubernetes.io/zone'] === zone)
    .map(({ metadata }) => metadata.name);
}
