/** What a turn of a plan says to people: is the goal reached, and if not, why not. */
import type { Command, Outcome } from '../command/command.ts';
import type { NewCondition } from '../conditions/conditions.ts';
import type { Knowledge } from '../plan/known.ts';
import { isReached, type Plan } from '../plan/plan.ts';

interface Said {
  readonly plan: Plan;
  readonly observed: Knowledge<unknown>;
  readonly outcomes: readonly { readonly command: Command; readonly outcome: Outcome }[];
  readonly inFlight: number;
}

/**
 * - `Ready`: the goal is reached;
 * - `Progressing`: something is being done, or is waited for;
 * - `Refused`: the plan will not act, and says why;
 * - `Observed`: the real world could be read.
 */
export function planConditions(said: Said, isPaused: boolean, generation: number | undefined): readonly NewCondition[] {
  const { plan, observed, inFlight } = said;
  const of = generation === undefined ? {} : { observedGeneration: generation };
  const condition = (type: string, is: boolean, reason: string, message: string): NewCondition => ({
    type,
    status: is ? 'True' : 'False',
    reason,
    message,
    ...of,
  });
  const ready = isReached(plan) && inFlight === 0;
  const { reason, message } = why(said, isPaused);
  const isBusy = !isPaused && !plan.refused?.length && !ready;
  const [refusal] = plan.refused ?? [];
  return [
    condition('Ready', ready, reason, message),
    condition('Progressing', isBusy, reason, message),
    condition(
      'Refused',
      refusal !== undefined,
      refusal ? 'PlanRefused' : 'NotRefused',
      refusal ? `${refusal.message} (${refusal.code})` : '',
    ),
    condition('Observed', observed.known, observed.known ? 'Read' : 'Unknown', observed.known ? '' : observed.why),
  ];
}

function why({ plan, outcomes, inFlight }: Said, isPaused: boolean): { reason: string; message: string } {
  const [refused] = plan.refused ?? [];
  if (refused) return { reason: 'Refused', message: refused.message };
  if (isPaused) return { reason: 'Paused', message: 'paused: nothing is executed' };
  for (const { command, outcome } of outcomes) {
    if (outcome.status === 'failed')
      return { reason: 'CommandFailed', message: `${command.why}: ${outcome.message} (${outcome.code})` };
    if (outcome.status === 'stale') return { reason: 'EvidenceStale', message: `${command.why}: ${outcome.message}` };
  }
  const [waiting] = plan.waitingFor ?? [];
  if (waiting) return { reason: waiting.reason, message: waiting.message };
  const [command] = plan.commands;
  if (command) return { reason: 'Executing', message: command.why };
  if (inFlight > 0) return { reason: 'Executing', message: `${inFlight} under way` };
  return { reason: 'Reached', message: '' };
}
