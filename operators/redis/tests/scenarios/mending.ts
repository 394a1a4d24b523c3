/** What the scenarios of `reeve redis fix` share: a cluster that serves clients, damage, the check that sees it, the fix, the judges. */
import assert from 'node:assert/strict';
import { type Cluster, ownerOf, parseNodes, type Server, type Written } from '@reeve/rig';
import { type Scenario, scenario } from './topology.ts';
import { quietSlots, type World } from './world.ts';

export interface Scene {
  readonly world: World;
  readonly cluster: Cluster;
  readonly entry: Server;
  /** A slot of the first primary without traffic. */
  readonly slot: number;
  readonly slots: readonly number[];
}

/** Damages, asserts that our check sees it, mends with `fix`, and ends with both judges. */
export function mend(
  name: string,
  code: string,
  damage: (scene: Scene) => Promise<Written>,
  after?: (scene: Scene) => Promise<void>,
): Scenario {
  return scenario(`fix: ${name}`, async (world) => {
    const scene = await setUp(world);
    const written = await damage(scene);
    await seen(scene, code);
    await world.reeve(scene.entry, 'fix');
    await after?.(scene);
    return world.end(scene.cluster.servers, { replicasPerPrimary: 1, written });
  });
}

export async function setUp(
  world: World,
  options: { readonly busProxy?: boolean; readonly nodeTimeoutMs?: number } = {},
): Promise<Scene> {
  const cluster = await world.cluster({ primaries: 4, replicas: 1, ...options });
  await world.startTraffic(cluster.servers);
  const [first, , third] = cluster.primaries;
  assert.ok(first && third);
  const slots = await quietSlots(first, 4);
  return { world, cluster, entry: third, slot: slots[0] as number, slots };
}

/** The check finds it, and says so with its exit code. */
export async function seen({ world, entry }: Pick<Scene, 'world' | 'entry'>, code: string): Promise<void> {
  const run = await world.look(entry, 'check', '--keys');
  const findings = (run.json?.findings ?? []) as readonly { readonly code: string; readonly severity: string }[];
  const found = findings.filter((finding) => finding.severity !== 'info').map((finding) => finding.code);
  assert.ok(found.includes(code), `check did not find ${code}, but ended with ${run.code}: ${run.stdout}${run.stderr}`);
  assert.equal(run.code, 1);
}

export async function settled(cluster: Cluster, slot: number): Promise<Server> {
  for (const server of cluster.servers) {
    const own = parseNodes(String(await server.call('CLUSTER', 'NODES'))).find((line) => line.myself);
    assert.deepEqual(own?.open.filter((open) => open.slot === slot) ?? [], []);
  }
  return ownerOf(cluster, slot);
}
