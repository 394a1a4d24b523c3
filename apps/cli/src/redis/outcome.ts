/** How an operation ended, for people and as JSON, and the exit code that says the same. */
import { type ClusterView, checkCluster, type Finding, isClean, type Proposal, printDecision } from '@reeve/redis';
import type { Refusal } from '@reeve/runtime';
import { type ExitCode, exit, remedyOf } from '../errors.ts';
import type { Io } from '../io.ts';
import { type Style, styleFor } from '../output/style.ts';
import { shellWord } from '../output/shell-word.ts';
import { findingsText } from './view.ts';

export type OperationOutcome =
  | { readonly status: 'planned' | 'nothing-to-do' | 'declined'; readonly proposal: Proposal<unknown> }
  | { readonly status: 'already-reached'; readonly journal: string }
  | { readonly status: 'reached'; readonly view: ClusterView; readonly journal?: string }
  | {
      readonly status: 'refused';
      readonly refused: readonly Refusal[];
      readonly started: boolean;
      readonly journal?: string;
    }
  | { readonly status: 'stopped'; readonly code: string; readonly message: string; readonly journal?: string }
  | { readonly status: 'interrupted'; readonly journal?: string };

export function printProposal(proposal: Proposal<unknown>, style: Style): string {
  return `${style.bold(`Plan ${proposal.digest}: ${proposal.kind}`)}\n${printDecision(proposal.decided)}\n`;
}

function exitOf(outcome: OperationOutcome): ExitCode {
  switch (outcome.status) {
    case 'planned':
    case 'nothing-to-do':
    case 'already-reached':
    case 'reached':
      return exit.ok;
    case 'declined':
    case 'refused':
      return exit.refused;
    case 'stopped':
      return exit.failed;
    case 'interrupted':
      return exit.interrupted;
  }
}

export function printOutcome(
  io: Io,
  json: boolean,
  verb: string,
  outcome: OperationOutcome,
  spreadBy: readonly string[],
): ExitCode {
  const findings = outcome.status === 'reached' ? checkCluster(outcome.view, { spreadBy }) : [];
  const code = isStillBroken(verb, outcome) ? exit.failed : exitOf(outcome);
  if (json) io.out(`${JSON.stringify(outcomeJson(verb, outcome, findings, code))}\n`);
  else
    for (const line of outcomeLines(verb, outcome, findings, styleFor(io.outIsTerminal, io.env))) io.out(`${line}\n`);
  return code;
}

/** A fix that had nothing to do, or did all it could, has not succeeded while something is broken. */
function isStillBroken(verb: string, outcome: OperationOutcome): boolean {
  if (verb !== 'fix') return false;
  const view =
    outcome.status === 'reached'
      ? outcome.view
      : outcome.status === 'nothing-to-do'
        ? outcome.proposal.view
        : undefined;
  return view !== undefined && checkCluster(view).some(({ severity }) => severity === 'broken');
}

function planJson({ kind, digest, decided }: Proposal<unknown>) {
  return { kind, digest, steps: decided.steps, reasons: decided.reasons };
}

function outcomeJson(verb: string, outcome: OperationOutcome, findings: readonly Finding[], code: ExitCode) {
  const base = { command: `redis ${verb}`, ok: code === exit.ok, status: outcome.status };
  switch (outcome.status) {
    case 'planned':
    case 'nothing-to-do':
    case 'declined':
      return { ...base, plan: planJson(outcome.proposal) };
    case 'reached':
      return { ...base, journal: outcome.journal, clean: isClean(findings), findings };
    case 'refused':
      return {
        ...base,
        refused: outcome.refused,
        changed: outcome.started ? 'perhaps' : 'nothing',
        journal: outcome.journal,
      };
    case 'stopped':
      return { ...base, error: { code: outcome.code, message: outcome.message }, journal: outcome.journal };
    case 'already-reached':
    case 'interrupted':
      return { ...base, journal: outcome.journal };
  }
}

function outcomeLines(
  verb: string,
  outcome: OperationOutcome,
  findings: readonly Finding[],
  style: Style,
): readonly string[] {
  const resume = (journal: string | undefined) =>
    journal === undefined ? [] : [`Go on with: reeve redis ${verb} --resume ${shellWord(journal)}`];
  switch (outcome.status) {
    case 'planned':
      if (outcome.proposal.decided.nothingToDo) return [printDecision(outcome.proposal.decided)];
      return [
        printProposal(outcome.proposal, style).trimEnd(),
        `Nothing was changed. To run exactly this: --approve ${outcome.proposal.digest}`,
      ];
    case 'nothing-to-do':
      return [printDecision({ ...outcome.proposal.decided, nothingToDo: true })];
    case 'declined':
      return ['Not approved: nothing was changed.'];
    case 'already-reached':
      return [`The operation of ${outcome.journal} has reached its goal already: nothing to resume.`];
    case 'reached': {
      // Notes are for `check`; here only what is wrong counts.
      const wrong = findings.filter(({ severity }) => severity !== 'info');
      return [style.green(`${verb}: done.`), wrong.length === 0 ? 'The check is clean.' : findingsText(wrong, style)];
    }
    case 'refused':
      return [
        ...outcome.refused.map(({ code, message }) => style.red(`refused: ${message} [${code}]`)),
        ...remedies(outcome.refused.map(({ code }) => code)),
        ...(outcome.started ? resume(outcome.journal) : ['Nothing was changed.']),
      ];
    case 'stopped':
      return [
        style.red(`stopped: ${outcome.message} [${outcome.code}]`),
        ...remedies([outcome.code]),
        ...resume(outcome.journal),
      ];
    case 'interrupted':
      return [style.yellow('Stopped at a safe place.'), ...resume(outcome.journal)];
  }
}

/** What to do, once for each code. */
function remedies(codes: readonly string[]): readonly string[] {
  return [...new Set(codes.map(remedyOf))].filter((remedy) => remedy !== undefined).map((remedy) => `    → ${remedy}`);
}
