/** A person's word for the plan that waits in the status of a declared cluster: for exactly that plan, or for none. */
import { isKubeError, type ResourceClient } from '@reeve/kube';
import { APPROVE, type RedisClusterObject, type RedisClusterStatus, redisClusters } from '@reeve/redis';
import { ReeveError } from '@reeve/runtime';
import type { Values } from '../args.ts';
import { cliError, type ExitCode, exit, usage } from '../errors.ts';
import type { Io } from '../io.ts';
import { withApi } from '../kube/api.ts';
import { styleFor } from '../output/style.ts';
import type { declaredOptions, operationOptions, outputOptions } from './options.ts';

export interface Approving {
  readonly io: Io;
  readonly values: Values<typeof declaredOptions & typeof operationOptions & typeof outputOptions>;
  readonly signal: AbortSignal;
  /** The verb, which is the kind of the plan: a fix is not approved by `create`. */
  readonly kind: string;
}

type Clusters = Pick<ResourceClient<RedisClusterObject>, 'find' | 'patch'>;
type Plan = NonNullable<RedisClusterStatus['proposal']>;

interface Proposed {
  readonly plan: Plan;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** The operator writes the status every few seconds. */
const MOST_TRIES = 10;

export async function approveDeclared(name: string, approving: Approving): Promise<ExitCode> {
  const { io, values, kind } = approving;
  for (const option of ['resume', 'rollback', 'journal'] as const) {
    if (values[option] !== undefined) throw usage(`--${option} is for clusters that are given by address`);
  }
  return withApi({ io, values }, async ({ client, namespace }) => {
    const clusters = client.resource(redisClusters, namespace);
    const { plan } = await proposed(clusters, name, namespace, kind);
    const json = { command: `redis ${kind}`, plan };
    const tell = (status: string, ok: boolean, line: string): void =>
      io.out(values.json ? `${JSON.stringify({ ...json, ok, status })}\n` : `${line}\n`);
    if (!values.json) io.out(planText(plan, io));
    if (values['dry-run']) {
      tell('planned', true, `Nothing was changed. To approve exactly this: --approve ${plan.digest}`);
      return exit.ok;
    }
    const digest = await askedFor(plan, approving);
    if (digest === undefined) {
      tell('declined', false, 'Not approved: nothing was changed.');
      return exit.refused;
    }
    await approve({ clusters, name, namespace, kind, digest }, approving.signal);
    tell('approved', true, `Approved. The operator does it: reeve why rediscluster/${name}`);
    return exit.ok;
  });
}

/** Written only where it was read: a plan that another one has taken the place of meanwhile is not approved. */
async function approve(
  of: {
    readonly clusters: Clusters;
    readonly name: string;
    readonly namespace: string;
    readonly kind: string;
    readonly digest: string;
  },
  signal: AbortSignal,
): Promise<void> {
  const { clusters, name, namespace, kind, digest } = of;
  for (let tries = 1; ; tries++) {
    const { plan, uid, resourceVersion } = await proposed(clusters, name, namespace, kind);
    if (plan.digest !== digest) {
      const message = `the plan that was approved (${digest}) is not the plan of now (${plan.digest}): the cluster changed in between`;
      throw new ReeveError('PLAN_STALE', message, { subjects: [digest] });
    }
    const metadata = { uid, resourceVersion, annotations: { [APPROVE]: digest } };
    try {
      await clusters.patch(name, { type: 'merge', value: { metadata } }, { signal });
      return;
    } catch (error) {
      if (!isKubeError(error, 'KUBE_CONFLICT') || tries >= MOST_TRIES) throw error;
    }
  }
}

/** Read live. */
async function proposed(clusters: Clusters, name: string, namespace: string, kind: string): Promise<Proposed> {
  const refused = (why: string) => cliError('NO_PROPOSAL', why, [name]);
  const cluster = await clusters.find(name);
  if (!cluster) {
    throw refused(`there is no RedisCluster ${name} in namespace ${namespace}; servers are given as HOST:PORT`);
  }
  const { status = {}, metadata } = cluster;
  const { proposal: plan } = status;
  if (!plan) {
    const [wait] = status.waitingFor ?? [];
    const state = `${status.phase ?? 'new'}${wait ? `, and waits for: ${wait.message}` : ''}`;
    throw refused(`no plan of RedisCluster ${name} waits for an approval: it is ${state}`);
  }
  if (plan.kind !== kind) {
    throw refused(
      `the plan of RedisCluster ${name} that waits for an approval is no ${kind}: reeve redis ${plan.kind} ${name}`,
    );
  }
  if (status.observedGeneration !== metadata.generation) {
    const message = `RedisCluster ${name} was changed, and its operator has not looked at it since`;
    throw new ReeveError('PLAN_STALE', message, { subjects: [name] });
  }
  return { plan, uid: metadata.uid, resourceVersion: metadata.resourceVersion };
}

function planText({ kind, digest, steps }: Plan, io: Io): string {
  const { bold } = styleFor(io.outIsTerminal, io.env);
  return [bold(`Plan ${digest}: ${kind}`), 'Steps:', ...steps.map((step, index) => `  ${index + 1}. ${step}`), ''].join(
    '\n',
  );
}

async function askedFor({ digest }: Plan, { io, values, signal }: Approving): Promise<string | undefined> {
  // As given, right or wrong: it is compared with the plan of that moment.
  if (values.approve !== undefined) return values.approve;
  if (values.yes) return digest;
  if (!io.inIsTerminal) {
    throw cliError('NOT_APPROVED', `nobody to ask: pass --yes, or --approve ${digest}`, [digest]);
  }
  const answer = await io.ask(`Approve this plan (${digest})? Type yes: `, { secret: false, signal });
  return answer?.trim().toLowerCase() === 'yes' ? digest : undefined;
}
