/** What would be begun next, as if everything had been so for long enough. */
import type { Refusal, Waiting } from '@reeve/runtime';
import { APPROVE, type CurrentOperation } from '../../api/cluster.ts';
import type { RedisTaskObject } from '../../api/kinds.ts';
import { namesOf } from '../../plan/children.ts';
import { standingChoices } from '../../plan/chosen-primaries.ts';
import { nextSteps, type Wish } from '../../plan/next.ts';
import { nextExternalSteps } from '../../plan/next-external.ts';
import { printCommand } from '../../plan/print.ts';
import { taskWish } from '../../plan/task-wish.ts';
import { upgradeStep } from '../../plan/upgrade.ts';
import { type Approvals, type Choice, choose, NO_APPROVAL, Settling } from '../choose.ts';
import type { Environment } from '../environment.ts';
import { isConfigured, isUntouched, isWhole, type Seen } from '../look.ts';
import { observeFor } from '../observing.ts';
import { operationOfKind, procedureOfKind } from '../operations.ts';
import { usedApprovals } from '../operations-record.ts';
import type { Around } from './around.ts';

export interface StepPlan {
  readonly kind: string;
  readonly why: string;
  readonly steps: readonly string[];
  readonly reasons: readonly string[];
  /** The name of the plan, by which it is approved. */
  readonly digest?: string;
  /** It waits for a person's approval of that digest. */
  readonly needsApproval?: true;
  /** It was begun: these are the next commands. */
  readonly isUnderWay?: true;
}

interface Steps {
  readonly next?: StepPlan;
  readonly refused: readonly Refusal[];
  readonly waitingFor: readonly Waiting[];
}

const NOTHING: Steps = { refused: [], waitingFor: [] };

/** What the cluster needs itself. */
export async function stepsOf(around: Around): Promise<Steps> {
  const { cluster, desired, seen, environment, held } = around;
  const status = cluster.status ?? {};
  const { currentOperation: running } = status;
  if (!environment) return desired.members === 'external' ? NOTHING : noSecret(cluster.metadata.name);
  if (running) return underWay(around, running, environment);
  const configured = isConfigured(status, undefined, seen);
  const chosen = standingChoices(status.chosenPrimaries ?? [], seen.view, isWhole(seen, desired));
  const isImageHeld = held !== undefined;
  const facts = { desired, ...seen, configured, isUntouched: isUntouched(status), isImageHeld, chosen };
  const { wishes, waitingFor } = desired.members === 'external' ? nextExternalSteps(facts) : nextSteps(facts);
  const choice = await chooseAtOnce(wishes, environment, {
    given: cluster.metadata.annotations?.[APPROVE],
    taken: status.approvals ?? 0,
    used: usedApprovals(status.operations),
  });
  return {
    ...stepOf(choice, wishes),
    refused: choice.refused,
    waitingFor: [...waitingFor, ...silent(seen), ...choice.waitingFor],
  };
}

function noSecret(cluster: string): Steps {
  const message = 'there is no password yet: the operator makes it, and pods begin with it';
  return { ...NOTHING, waitingFor: [{ reason: 'NoSecret', message, subjects: [namesOf(cluster).secret] }] };
}

/** From here, that is: whoever plans may live elsewhere than the operator. */
function silent({ members, view }: Seen): readonly Waiting[] {
  if (members.length === 0 || members.some(({ node }) => node)) return [];
  const [first] = view.silent;
  if (!first) return [];
  const message = `no server could be reached from here (${first.why}): the operator may see more`;
  return [{ reason: 'NotReached', message, subjects: [] }];
}

function chooseAtOnce(
  wishes: readonly Wish[],
  environment: Environment,
  approval: Approvals = NO_APPROVAL,
): Promise<Choice> {
  const settled = wishes.map((wish) => ({ ...wish, settleMs: 0 }));
  return choose({ wishes: settled, settling: new Settling(), approval, environment });
}

function stepOf(choice: Choice, wishes: readonly Wish[]): Pick<Steps, 'next'> {
  const { begin, restart, proposed } = choice;
  if (restart) {
    const steps = [`pod ${restart.pod.name} is deleted, and made anew by its StatefulSet`];
    return { next: { kind: 'restart', why: restart.why, steps, reasons: [] } };
  }
  const proposal = begin?.proposal ?? proposed;
  if (!proposal) return {};
  const { kind, digest, decided } = proposal;
  const why = begin?.wish.why ?? wishes.find((wish) => wish.what === 'operation' && wish.kind === kind)?.why ?? '';
  const { steps, reasons } = decided;
  return { next: { kind, why, digest, steps, reasons, ...(!begin && { needsApproval: true as const }) } };
}

/** An operation says what it sends next; a procedure what it does from its beginning to its end. */
export async function underWay(
  { cluster }: Pick<Around, 'cluster'>,
  { kind, why, goal }: CurrentOperation,
  environment: Environment,
): Promise<Steps> {
  const { progress } = cluster.status ?? {};
  const reasons = progress === undefined ? [] : [`so far: ${progress}`];
  const begun = { kind, why, reasons, isUnderWay: true as const };
  const operation = operationOfKind(kind);
  const procedure = procedureOfKind(kind);
  if (operation) {
    const view = await observeFor(environment, (seen) => operation.goalNeeds(goal, seen));
    const plan = operation.plan(goal, view, environment.ports.clock.now(), []);
    const steps = plan.commands.map((command) => `${printCommand(command)}: ${command.why}`);
    return { next: { ...begun, steps }, refused: plan.refused ?? [], waitingFor: plan.waitingFor ?? [] };
  }
  if (procedure) {
    const view = await observeFor(environment, (seen) => procedure.needs(goal, seen));
    return { ...NOTHING, next: { ...begun, steps: procedure.steps(goal, view) } };
  }
  const message = `operation ${kind} is not known here: another version of Reeve began it`;
  return {
    ...NOTHING,
    next: { ...begun, steps: [] },
    refused: [{ code: 'OPERATION_UNKNOWN', message, subjects: [] }],
  };
}

/**
 * What a task asks for, if its turn were now.
 * @param own what the cluster does next by itself: of an upgrade that is how it goes on.
 */
export async function taskSteps(around: Around, task: RedisTaskObject, own: StepPlan | undefined): Promise<Steps> {
  const { cluster, desired, seen, environment } = around;
  if (task.spec.upgrade) return upgradeSteps(around, task, own);
  const wish = taskWish(task, { desired, members: seen.members, stored: cluster.status?.members ?? [] });
  if (!wish) return { ...NOTHING, next: { kind: 'check', why: asks(task), steps: [], reasons: [] } };
  if ('refused' in wish) return { ...NOTHING, refused: wish.refused };
  if (!environment) return NOTHING;
  const choice = await chooseAtOnce([wish], environment);
  return { ...NOTHING, ...stepOf(choice, [wish]), refused: choice.refused };
}

function asks({ metadata }: RedisTaskObject): string {
  return `task ${metadata.name} asks for it`;
}

/** It was begun, and what the cluster does by itself brings it on. */
export function isUpgrading({ cluster, seen }: Around, { spec }: RedisTaskObject): boolean {
  return spec.upgrade !== undefined && upgradeStep(spec.upgrade, { ...seen, spec: cluster.spec }).step === 'wait';
}

function upgradeSteps({ cluster, seen }: Around, task: RedisTaskObject, own: StepPlan | undefined): Steps {
  const { upgrade } = task.spec;
  if (!upgrade) return NOTHING;
  const next = upgradeStep(upgrade, { spec: cluster.spec, members: seen.members });
  const plan = { kind: 'upgrade', why: asks(task) };
  switch (next.step) {
    case 'refuse':
      return { ...NOTHING, refused: next.refused };
    case 'set': {
      const what =
        next.image === null ? `spec.version becomes ${next.version ?? ''}` : `spec.image becomes ${next.image}`;
      const steps = [what, 'pods are made anew one by one: replicas, then primaries after a failover'];
      return { ...NOTHING, next: { ...plan, steps, reasons: [] } };
    }
    case 'wait': {
      const steps = own ? [`${own.kind}: ${own.why}`, ...own.steps] : [];
      return {
        ...NOTHING,
        next: { ...plan, steps, reasons: [`so far: ${next.progress}`], isUnderWay: true },
        waitingFor: [{ reason: 'Upgrade', message: `the new version in ${next.waitingFor}`, subjects: [] }],
      };
    }
    case 'done':
      return { ...NOTHING, next: { ...plan, steps: ['the task ends'], reasons: [next.message], isUnderWay: true } };
  }
}
