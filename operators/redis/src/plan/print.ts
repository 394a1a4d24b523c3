/** Plans, decisions, findings and views as plain text for people: no colour, no width of a terminal, no I/O. */
import type { Plan, Refusal } from '@reeve/runtime';
import type { RedisCommand } from '../api/commands.ts';
import type { Finding } from '../api/findings.ts';
import { type Decision, isRefused } from '../api/operation.ts';
import { countSlots, parseSlots } from '../api/slots.ts';
import { formatEndpoint, type NodeRef } from '../api/view.ts';
import { refName } from './topology.ts';

export { printView } from './print-view.ts';

/** What an operation would do and why, or why not. */
export function printDecision<Goal>(decision: Decision<Goal>): string {
  if (isRefused(decision)) return lines('Refused, nothing is changed:', printRefusals(decision.refused));
  const steps = decision.nothingToDo
    ? ['Nothing to do: what was asked for holds already.']
    : ['Steps:', ...decision.steps.map((step, index) => `  ${index + 1}. ${step}`)];
  const reasons =
    decision.reasons.length === 0 ? [] : ['Why so:', ...decision.reasons.map((reason) => `  - ${reason}`)];
  return lines(...steps, ...reasons);
}

/** What a plan says at one moment: commands, waits, refusals. */
export function printPlan(plan: Plan<RedisCommand>): string {
  const parts: string[] = [];
  if (plan.refused?.length) parts.push('Refused:', printRefusals(plan.refused));
  if (plan.commands.length > 0) {
    parts.push(
      'Commands:',
      ...plan.commands.map((command) => `  - ${printCommand(command)}\n      why: ${command.why}`),
    );
  }
  if (plan.waitingFor?.length) {
    parts.push('Waiting for:', ...plan.waitingFor.map((waiting) => `  - ${waiting.reason}: ${waiting.message}`));
  }
  return parts.length === 0 ? 'Reached: nothing to do, nothing to wait for.' : lines(...parts);
}

function printRefusals(refused: readonly Refusal[]): string {
  return lines(...refused.map((refusal) => `  - ${refusal.code}: ${refusal.message}`));
}

/** One line for a command: what it does to whom. */
export function printCommand(command: RedisCommand): string {
  switch (command.type) {
    case 'assign-slots':
      return `assign ${slotsText(command.slots)} to ${refName(command.node)}`;
    case 'set-epochs':
      return `set config epochs: ${command.epochs.map(({ node, epoch }) => `${refName(node)} = ${epoch}`).join(', ')}`;
    case 'meet':
      return `introduce nodes to each other: ${few(command.pairs.map(({ from, to }) => `${refName(from)} → ${refName(to)}`))}`;
    case 'replicate':
      return `make ${refName(command.replica)} a replica of ${refName(command.primary)}`;
    case 'migrate-slots':
      return `move ${slotsText(command.slots)} from ${refName(command.source)} to ${refName(command.target)} (engine ${command.engine}, ${command.pace})`;
    case 'claim-slots':
      return `make ${refName(command.owner)} the owner of ${slotsText(command.slots)}${andFrom(command.releaseFrom)}`;
    case 'collect-keys':
      return `move the keys of ${slotsText(command.slots)} from ${refName(command.from)} to their owner ${refName(command.owner)}`;
    case 'close-slots':
      return `close ${slotsText(command.slots)} on ${refName(command.node)}`;
    case 'bump-epoch':
      return `give ${refName(command.node)} a new config epoch`;
    case 'forget-node':
      return `take ${refName(command.node)} out of the tables of ${command.by.length} nodes${command.reset ? ', then reset it' : ''}`;
    case 'failover':
      return `make ${refName(command.replica)} the primary in place of ${refName(command.primary)} (${command.mode})`;
    case 'copy-functions':
      return `copy the function libraries of ${refName(command.from)} to ${refName(command.to)}`;
  }
}

/** Findings, in the order given (a check gives the worst first), each with what to do. */
export function printFindings(findings: readonly Finding[]): string {
  if (findings.length === 0) return 'Clean: nothing found.';
  return lines(
    ...findings.flatMap((finding) => [
      `${finding.severity}: ${finding.message} [${finding.code}]`,
      ...(finding.remedy === '' ? [] : [`    → ${finding.remedy}`]),
    ]),
  );
}

function slotsText(text: string): string {
  const count = countSlots(parseSlots(text) ?? []);
  return count === 1 ? `slot ${text}` : `${count} slots (${text})`;
}

function andFrom(nodes: readonly NodeRef[]): string {
  return nodes.length === 0 ? '' : `, given up by ${nodes.map((node) => formatEndpoint(node.endpoint)).join(', ')}`;
}

/** All pairs of thirty nodes are 435 lines: the first few say it. */
function few(parts: readonly string[], most = 6): string {
  return parts.length > most
    ? `${parts.slice(0, most).join(', ')} and ${parts.length - most} more pairs`
    : parts.join(', ');
}

function lines(...parts: readonly string[]): string {
  return parts.join('\n');
}
