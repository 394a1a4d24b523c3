/** What all operations share on the command line: plan, approval, journal, progress, interruption, result. */
import {
  type Approval,
  createJournal,
  type Endpoint,
  type Environment,
  formatEndpoint,
  type Journal,
  type Operation,
  openJournal,
  operationOfKind,
  type Proposal,
  propose,
  type RunResult,
  resumeOperation,
  rollbackOperation,
  runOperation,
} from '@reeve/redis';
import { ReeveError } from '@reeve/runtime';
import type { Values } from '../args.ts';
import { cliError, type ExitCode, usage } from '../errors.ts';
import type { Io } from '../io.ts';
import { ProgressView } from '../output/progress.ts';
import { styleFor } from '../output/style.ts';
import type { operationOptions, outputOptions } from './options.ts';
import { type OperationOutcome, printOutcome, printProposal } from './outcome.ts';
import { mustSeeSomething, type Session } from './session.ts';
import { settle } from './settle.ts';

export type OperationValues = Values<typeof operationOptions & typeof outputOptions>;

export interface Operating<Request, Goal> {
  readonly verb: string;
  readonly operation: Operation<Request, Goal>;
  readonly io: Io;
  readonly values: OperationValues;
  readonly session: Session;
  readonly signal: AbortSignal;
}

/** Refuses combinations that contradict each other before anything is asked of a server. */
export function checkOperationValues(values: OperationValues): void {
  const { resume, rollback, journal, approve } = values;
  if (resume !== undefined && rollback !== undefined) throw usage('--resume and --rollback exclude each other');
  if (resume !== undefined && values['dry-run'])
    throw usage('--resume goes on with what was approved: there is no --dry-run of it');
  if (resume !== undefined && journal !== undefined)
    throw usage('--resume goes on in its own journal: leave out --journal');
  if (approve !== undefined && values.yes) throw usage('--yes approves any plan, --approve only one: give one of them');
}

export async function operate<Request, Goal>(
  operating: Operating<Request, Goal>,
  request: () => Promise<Request>,
): Promise<ExitCode> {
  const { io, values, session, signal } = operating;
  const progress = new ProgressView({
    write: io.err,
    isTerminal: io.errIsTerminal,
    columns: io.columns,
    style: styleFor(io.errIsTerminal, io.env),
    clock: io.ports.clock,
  });
  const waitLimit = values['wait-limit'];
  const environment = session.environment(
    signal,
    progress.report,
    waitLimit === undefined ? undefined : waitLimit * 1000,
  );
  try {
    const outcome = await runAsked(operating, environment, request);
    const settled =
      outcome.status === 'reached'
        ? { ...outcome, view: await settle(outcome.view, (from) => session.observe({}, from), io.ports.clock, signal) }
        : outcome;
    progress.end();
    return printOutcome(io, values.json, operating.verb, settled, session.spreadBy);
  } finally {
    progress.end();
  }
}

async function runAsked<Request, Goal>(
  operating: Operating<Request, Goal>,
  environment: Environment,
  request: () => Promise<Request>,
): Promise<OperationOutcome> {
  const { values } = operating;
  if (values.resume !== undefined) return resume(operating.io, environment, values.resume);
  if (values.rollback !== undefined) return rollback(operating, environment, values.rollback);
  return runNew(operating, environment, await request());
}

async function runNew<Request, Goal>(
  operating: Operating<Request, Goal>,
  environment: Environment,
  request: Request,
): Promise<OperationOutcome> {
  const { values, operation } = operating;
  if (values['dry-run']) {
    const proposal = await propose(operation, request, environment);
    if ('refused' in proposal) return { status: 'refused', refused: proposal.refused, started: false };
    return { status: 'planned', proposal };
  }
  let journal: Journal | undefined;
  const approval: Approval<Goal> = {
    approve: (proposal) => approve(operating, proposal),
    anyPlan: values.yes,
    begin: async (proposal) => {
      journal = await beginJournal(operating, proposal);
      return journal;
    },
  };
  const result = await runOperation(operation, request, environment, approval);
  return outcomeOf(result, journal?.path);
}

function outcomeOf<Goal>(result: RunResult<Goal>, journal: string | undefined): OperationOutcome {
  const base = journal === undefined ? {} : { journal };
  switch (result.status) {
    case 'nothing-to-do':
      return { status: 'nothing-to-do', proposal: result.proposal };
    case 'declined':
      return { status: 'declined', proposal: result.proposal };
    case 'reached':
      return { ...base, status: 'reached', view: result.view };
    case 'refused':
      return { ...base, status: 'refused', refused: result.refused, started: result.started };
    case 'stopped':
      return { ...base, status: 'stopped', code: result.code, message: result.message };
    case 'interrupted':
      return { ...base, status: 'interrupted' };
  }
}

async function approve<Request, Goal>(
  operating: Operating<Request, Goal>,
  proposal: Proposal<Goal>,
): Promise<string | undefined> {
  const { io, values, signal } = operating;
  // The digest as given, right or wrong: the run compares it with the plan of that moment.
  if (values.approve !== undefined) return values.approve;
  if (!values.json) io.out(printProposal(proposal, styleFor(io.outIsTerminal, io.env)));
  if (values.yes) return proposal.digest;
  if (!io.inIsTerminal) {
    throw cliError('NOT_APPROVED', `nobody to ask: pass --yes, or --approve ${proposal.digest}`, [proposal.digest]);
  }
  const answer = await io.ask(`Run this plan (${proposal.digest})? Type yes: `, { secret: false, signal });
  return answer?.trim().toLowerCase() === 'yes' ? proposal.digest : undefined;
}

async function beginJournal<Request, Goal>(
  operating: Operating<Request, Goal>,
  { digest, decided: { goal }, view }: Proposal<unknown>,
): Promise<Journal> {
  const { io, values, operation, session } = operating;
  const operationId = io.ports.ids.next(operation.kind);
  const path = values.journal ?? `${stateFolder(io)}/${operationId}.journal.json`;
  const journal = await createJournal(io.ports.files, io.ports.clock, path, {
    operationId,
    kind: operation.kind,
    goal,
    digest,
    // All members: the one address given may be down when the operation is resumed.
    seeds: uniqueEndpoints([...session.seeds, ...view.nodes.map((node) => node.endpoint)]),
  });
  io.err(`journal: ${path}\n`);
  return journal;
}

function uniqueEndpoints(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  return [...new Map(endpoints.map((endpoint) => [formatEndpoint(endpoint), endpoint])).values()];
}

/** Where programs keep what must survive a restart but is nobody's document. */
function stateFolder(io: Io): string {
  const { XDG_STATE_HOME: state, HOME: home } = io.env;
  if (state) return `${state}/reeve`;
  if (home) return `${home}/.local/state/reeve`;
  throw usage('neither XDG_STATE_HOME nor HOME is set: give --journal FILE');
}

/** The journal alone says what is to be done: any verb may resume any operation. */
async function resume(io: Io, environment: Environment, path: string): Promise<OperationOutcome> {
  const stored = await openJournal(io.ports.files, io.ports.clock, path);
  const { kind, goal, digest } = stored.journal.header;
  if (stored.reached) return { status: 'already-reached', journal: path };
  const operation = operationOfKind(kind);
  if (!operation) {
    throw new ReeveError('JOURNAL_BROKEN', `${path} is the journal of '${kind}', which this version does not know`, {
      subjects: [path],
    });
  }
  io.err(`resuming ${kind} (${digest})\n`);
  return outcomeOf(await resumeOperation(operation, goal, environment, stored.journal), path);
}

/** The way back is an operation like any other: decided, approved and decided again before anything moves. */
async function rollback<Request, Goal>(
  operating: Operating<Request, Goal>,
  environment: Environment,
  path: string,
): Promise<OperationOutcome> {
  const { io, session } = operating;
  const stored = await openJournal(io.ports.files, io.ports.clock, path);
  const { kind, goal } = stored.journal.header;
  mustSeeSomething(await session.observe());
  return runNew({ ...operating, operation: rollbackOperation }, environment, { kind, goal, journal: path });
}
