/** `reeve plan`: what an operator would do next with a resource, and why. */
import { type AnyObject, servedResources } from '@reeve/kube';
import {
  type DryRun,
  type DryRunPorts,
  planCluster,
  planTask,
  type RedisClusterObject,
  redisClusters,
  type RedisTaskObject,
  redisTasks,
} from '@reeve/redis';
import type { CommandLine } from '../command.ts';
import { cliError, type ExitCode, exit, usage } from '../errors.ts';
import { type Api, withApi } from '../kube/api.ts';
import { readWanted, resolveKind } from '../kube/kinds.ts';
import { readManifests } from '../kube/manifest.ts';
import { homeOf } from '../kube/served.ts';
import { yamlText } from '../kube/yaml.ts';
import type { planOptions } from './spec.ts';
import { planText } from './text.ts';

type PlanLine = CommandLine<typeof planOptions>;

/** A plan, and what it is about. */
interface Planned extends DryRun {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

const PLANNED: readonly string[] = [redisClusters.kind, redisTasks.kind];

export async function run(line: PlanLine): Promise<ExitCode> {
  const { io, values, words, signal } = line;
  if ((values.file === undefined) === (words.length === 0)) throw usage('reeve plan takes KIND/NAME or -f FILE');
  return withApi(line, async (api) => {
    const given = { client: api.client, ports: io.ports, connect: io.connect, signal };
    const objects = values.file === undefined ? await named(line, api) : await filed(line, api);
    const plans: Planned[] = [];
    for (const object of objects) plans.push(await planOf(given, api, object, objects));
    const form = values.output ?? 'table';
    const whole = plans.length === 1 ? plans[0] : plans;
    if (form === 'json') io.out(`${JSON.stringify(whole, undefined, 2)}\n`);
    else if (form === 'yaml') io.out(yamlText(whole));
    else io.out(plans.map((plan) => planText(`${plan.kind} ${plan.name}`, plan)).join('\n'));
    return plans.some(({ refused, next }) => refused.length > 0 && !next) ? exit.refused : exit.ok;
  });
}

/** As they are. */
async function named({ words, signal }: PlanLine, { client, namespace }: Api): Promise<readonly AnyObject[]> {
  const served = await servedResources(client, { signal });
  const objects: AnyObject[] = [];
  for (const { kind: word, names } of readWanted(words)) {
    const kind = resolveKind(served, word);
    if (!PLANNED.includes(kind.kind) || kind.group !== redisClusters.group) throw nobodyPlans(kind.kind);
    if (names.length === 0) throw usage('reeve plan takes KIND/NAME');
    for (const name of names)
      objects.push({ ...(await client.resource(kind, namespace).get(name, { signal })), kind: kind.kind });
  }
  return objects;
}

/** As they would be: the server says, and keeps nothing of it. */
async function filed(line: PlanLine, api: Api): Promise<readonly AnyObject[]> {
  const { io, values, signal } = line;
  const manifests = (await readManifests(line, values.file)).filter(({ kind }) => PLANNED.includes(kind));
  if (manifests.length === 0) throw nobodyPlans(values.file ?? '');
  const objects: AnyObject[] = [];
  for (const manifest of manifests) {
    const { clock } = io.ports;
    const { client } = await homeOf(api, manifest, { given: values.namespace, mayCome: false, clock, signal });
    const options = { dryRun: true, force: true, fieldManager: 'reeve', signal };
    objects.push({ ...(await client.apply(manifest, options)), kind: manifest.kind });
  }
  return objects;
}

async function planOf(
  given: DryRunPorts,
  { client, namespace: home }: Api,
  object: AnyObject,
  others: readonly AnyObject[],
): Promise<Planned> {
  const { kind = '', metadata } = object;
  const { name = '', namespace = home } = metadata;
  const about = { kind, namespace, name };
  if (kind === redisClusters.kind) {
    return { ...about, ...(await planCluster(given, object as unknown as RedisClusterObject)) };
  }
  const task = object as unknown as RedisTaskObject;
  const { cluster: of } = task.spec;
  const cluster =
    (await client.resource(redisClusters, namespace).find(of, { signal: given.signal })) ??
    (others.find((one) => one.kind === redisClusters.kind && one.metadata.name === of) as
      | RedisClusterObject
      | undefined);
  if (cluster) return { ...about, ...(await planTask(given, cluster, task)) };
  const message = `there is no RedisCluster ${of} in namespace ${namespace}`;
  return { ...about, objects: [], refused: [], waitingFor: [{ reason: 'ClusterMissing', message, subjects: [of] }] };
}

function nobodyPlans(what: string): Error {
  return cliError('KIND_UNKNOWN', `there is nothing to plan in ${what}: ${PLANNED.join(' or ')}`, [what]);
}
