/** One round: an operation under traffic, one kill -9 at a random moment, the way on, and the judges. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Product, startTraffic, temporaryFolder, until } from '@reeve/rig';
import { createRound } from './create-round.ts';
import { misplacedSlots, stillKnownBy } from './goal.ts';
import { countLosses, LossPermit } from './losses.ts';
import { decideConflicts } from './person.ts';
import { address, begun, journalLines, MOST_RESUMES, pause, type Resumed, reeve, resume, Tool } from './tool.ts';
import type { Member, World } from './world.ts';

export type Operation = 'create' | 'reshard' | 'delete';
export type Victim = 'tool' | 'source' | 'target';

/**
 * What follows the kill. The tool: its journal (`resume`), or nothing but `fix` and a deletion asked for anew, or a
 * creation asked for anew. A server: started again at once, only after its replica took over, or, in a creation, where
 * nobody may be there to take over, only after the tool gave up waiting for it.
 */
export type FollowUp = 'resume' | 'fix' | 'anew' | 'at-once' | 'after-failover' | 'after-the-tool';

/** What is done in such a round. */
export function followUps(
  operation: Operation,
  victim: Victim,
): { readonly usual: FollowUp; readonly other: FollowUp } {
  if (operation === 'create') {
    return victim === 'tool' ? { usual: 'resume', other: 'anew' } : { usual: 'at-once', other: 'after-the-tool' };
  }
  return victim === 'tool' ? { usual: 'resume', other: 'fix' } : { usual: 'at-once', other: 'after-failover' };
}

export interface RoundPlan {
  readonly number: number;
  readonly product: Product;
  readonly operation: Operation;
  readonly engine: Engine;
  readonly pace: Pace;
  readonly victim: Victim;
  readonly followUp: FollowUp;
  /** How far into the operation the kill falls: from 0; from 1 on all slots have moved, and a deletion goes on with the rest. */
  readonly moment: number;
}

export interface RoundResult {
  readonly plan: RoundPlan;
  readonly killedAfterMs: number;
  /** The tool had ended before the kill: the round proves less. */
  readonly tooLate: boolean;
  readonly journalLines: number;
  /** Slots that had left the source at the kill, and how many were to; nothing of the kind in a creation. */
  readonly moved?: { readonly slots: number; readonly of: number };
  readonly resumes: number;
  /** The tool ended while the killed server was away, and said so: `fix` ran when it was back. */
  readonly fixedOnReturn?: boolean;
  /** Keys of which two copies differed after a failover in the middle of a move: told, and decided by a person. */
  readonly conflicts: number;
  /** Keys that the killed primary had and its replica had not received: what asynchronous replication permits. */
  readonly permittedLosses: number;
  readonly problems: readonly string[];
  readonly tookMs: number;
}

/** How slots move in a round: Redis 7 has one engine only. */
export type Engine = 'auto' | 'windowed';
/** As fast as the servers can, or as the tool does it when nothing is said. */
export type Pace = 'fast' | 'gentle';

/** How long an operation takes undisturbed from its journal's beginning, where slots move all at once: then time alone tells how far it is. */
export type Windows = ReadonlyMap<string, number>;
const POLL_MS = 10;
const SLOTS: Readonly<Record<Pace, number>> = { fast: 1200, gentle: 400 };
/** The last part of create waits until the servers serve; nothing is changed any more then. */
const CREATE_WINDOW_MS = 900;

export async function killRound(plan: RoundPlan, world: World, windows: Windows): Promise<RoundResult> {
  const began = performance.now();
  if (plan.operation === 'create') return createRound(plan, CREATE_WINDOW_MS, began);
  return changeRound(plan, world, windows.get(windowName(plan)), began);
}

type Manner = Pick<RoundPlan, 'operation' | 'engine' | 'pace'>;

function windowName({ operation, engine, pace }: Manner): string {
  return `${operation} ${engine} ${pace}`;
}

/** One undisturbed run of each kind that the rounds need, timed: only Valkey's atomic migration moves slots all at once. */
export async function measureWindows(world: World, plans: readonly RoundPlan[]): Promise<Windows> {
  const windows = new Map<string, number>();
  const atomic = plans.filter(
    ({ operation, engine }) => operation !== 'create' && engine === 'auto' && world.product === 'valkey',
  );
  const manners = new Map(atomic.map((plan) => [windowName(plan), plan] as const)).values();
  for (const manner of manners) {
    const { operation } = manner;
    const { source, target } = pickPair(await world.members(), manner);
    const witness = (await world.members()).find((member) => ![source.id, target.id].includes(member.id)) as Member;
    const journal = join(temporaryFolder('kill'), `${operation}.journal.json`);
    const line = lineFor(manner, address(witness.server.endpoint), source, target);
    const tool = new Tool([...line, '--yes', '--json', '--journal', journal]);
    await begun(tool, journal);
    const from = performance.now();
    const { code, stdout, stderr } = await tool.result;
    if (code !== 0) throw new Error(`an undisturbed ${operation} failed: ${stdout}\n${stderr}`);
    windows.set(windowName(manner), performance.now() - from);
    await world.repair();
    const problems = await world.judge();
    if (problems.length > 0) throw new Error(`after an undisturbed ${operation}: ${problems.join('; ')}`);
  }
  return windows;
}

function slotsToMove({ operation, pace }: Pick<Manner, 'operation' | 'pace'>, source: Member): number {
  return operation === 'delete' ? source.slots : SLOTS[pace];
}

function lineFor(
  { operation, engine, pace }: Manner,
  entry: string,
  source: Member,
  target: Member,
): readonly string[] {
  const how = ['--engine', engine, ...(pace === 'fast' ? ['--fast'] : [])];
  if (operation === 'delete') return ['del-node', entry, '--node', source.id, ...how];
  const slots = String(slotsToMove({ operation, pace }, source));
  return ['reshard', entry, '--from', source.id, '--to', target.id, '--slots', slots, ...how];
}

/**
 * Source: gives slots, the one with most: so there are enough whatever was moved before. Target: takes slots. In a
 * deletion the source is the node that goes, the one with fewest: a gentle one takes minutes.
 */
function pickPair(
  members: readonly Member[],
  { operation, number }: Pick<RoundPlan, 'operation' | 'number'>,
): { source: Member; target: Member } {
  const primaries = members
    .filter((member) => member.role === 'primary' && member.slots > 0)
    .sort((a, b) => a.slots - b.slots);
  const source = primaries.at(operation === 'delete' ? 0 : -1) as Member;
  const others = primaries.filter((member) => member !== source);
  return { source, target: others[number % others.length] as Member };
}

/** Waits until that part of the slots has moved, or that part of the time is over, or the tool ended. The number of slots moved. */
async function untilMoment(
  tool: Tool,
  { moment, operation, pace }: RoundPlan,
  source: Member,
  world: World,
  windowMs = Number.POSITIVE_INFINITY,
): Promise<number> {
  const began = performance.now();
  const enough = Math.min(1, moment) * slotsToMove({ operation, pace }, source);
  for (;;) {
    const left = (await world.owners()).filter((owner) => owner === source.id).length;
    const moved = source.slots - left;
    if (tool.ended || moved >= enough || performance.now() - began >= moment * windowMs) return moved;
    await pause(POLL_MS);
  }
}

async function changeRound(
  plan: RoundPlan,
  world: World,
  windowMs: number | undefined,
  began: number,
): Promise<RoundResult> {
  const problems: string[] = [];
  const { source, target } = pickPair(await world.members(), plan);
  const witness = (await world.members()).find((member) => ![source.id, target.id].includes(member.id)) as Member;
  const entry = address(witness.server.endpoint);
  const traffic = await startTraffic(world.endpoints, {
    keyPrefix: `round${plan.number}`,
    keys: 1200,
    pauseMs: 2,
    patienceMs: 120_000,
  });
  const journal = join(temporaryFolder('kill'), `${plan.operation}.journal.json`);
  const what = lineFor(plan, entry, source, target);
  const verb = what[0] as string;
  const tool = new Tool([...what, '--yes', '--json', '--wait-limit', '60', '--journal', journal]);
  await begun(tool, journal);
  const from = performance.now();
  const moved = await untilMoment(tool, plan, source, world, windowMs);
  const killedAfterMs = performance.now() - from;
  const tooLate = tool.ended;
  const lines = journalLines(journal);
  const killed = plan.victim === 'tool' ? undefined : plan.victim === 'source' ? source : target;
  const behindMark = killed ? await killServer(killed, plan.followUp, world) : new Set<string>();
  if (!killed) tool.kill9();

  const { code, stdout } = await tool.result;
  let resumed: Resumed = { resumes: 0 };
  const withoutJournal = code !== 0 && plan.followUp === 'fix';
  if (withoutJournal) await goOnWithoutJournal(what, entry, problems);
  else if (code !== 0) resumed = await resume(verb, journal);

  const result = await traffic.stop();
  if (result.errors.length > 0)
    problems.push(`clients saw ${result.errors.length} errors: ${result.errors.slice(0, 3).join(' | ')}`);
  for (const [key, value] of result.acknowledged) world.acknowledged.set(key, value);
  for (const server of world.cluster.servers) if (!server.running) await server.restart();
  const { resumes, conflicts } = await goOnDecided(verb, journal, resumed, world, problems);
  const fixedOnReturn = code === 0 && killed !== undefined && isToldAway(stdout, killed.id);
  if (fixedOnReturn) await fixReturned(killed, entry, problems);
  if (problems.length === 0)
    problems.push(...(await missed(plan.operation, source.id, journal, withoutJournal, world)));
  // A server that comes back with its file before anybody took over has lost nothing.
  const tookOver = killed && (plan.followUp === 'after-failover' || (await world.isReplica(killed.server)));
  const mayBeLost = tookOver ? behindMark : new Set<string>();
  const permittedLosses = await countLosses(world, mayBeLost).catch((error: unknown) => {
    problems.push(`reading back: ${String(error)}`);
    return 0;
  });
  const regressions = result.regressions.filter(({ key }) => !mayBeLost.has(key));
  if (regressions.length > 0) problems.push(`${regressions.length} reads went back in time`);
  await world.repair().catch((error: unknown) => problems.push(`repair: ${String(error)}`));
  problems.push(...(await world.judge()));
  if (problems.length > 0)
    problems.push(await world.picture(), existsSync(journal) ? readFileSync(journal, 'utf8') : '');
  return {
    plan,
    killedAfterMs,
    tooLate,
    journalLines: lines,
    moved: { slots: moved, of: slotsToMove(plan, source) },
    resumes,
    fixedOnReturn,
    conflicts,
    permittedLosses,
    problems,
    tookMs: performance.now() - began,
  };
}

/** Whether the tool, done, named this node as one that is not there. */
function isToldAway(stdout: string, id: string): boolean {
  const { findings = [] } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as ToolEnd;
  return findings.some(({ code, nodes }) => AWAY.has(code) && nodes.includes(id));
}

const AWAY: ReadonlySet<string> = new Set(['NODE_FAILED', 'NODE_UNREACHABLE', 'NODE_SUSPECTED']);

interface ToolEnd {
  readonly findings?: readonly { readonly code: string; readonly nodes: readonly string[] }[];
}

/** A server that was away when the move was finished comes back with its own marks of it; the tool's remedy is `fix`. */
async function fixReturned({ server }: Member, entry: string, problems: string[]): Promise<void> {
  const follows = async () => String(await server.call('INFO', 'replication')).includes('master_link_status:up');
  // One that lost its slots to several nodes stays a primary: then `fix` finds it as it is.
  await until('the server that was away follows its heir', follows, { timeoutMs: 8_000 }).catch(() => undefined);
  await reeve('fix', entry, '--yes', '--json').catch((error: unknown) =>
    problems.push(`fix after its return: ${String(error)}`),
  );
}

/** Conflicts are decided, then the journal takes up again. Several rounds: the tool names at most three keys of a slot. */
async function goOnDecided(
  verb: string,
  journal: string,
  resumed: Resumed,
  world: World,
  problems: string[],
): Promise<{ readonly resumes: number; readonly conflicts: number }> {
  let { resumes, said } = resumed;
  let conflicts = 0;
  try {
    while (said?.includes('KEY_CONFLICT') && resumes < MOST_RESUMES) {
      conflicts += await decideConflicts((JSON.parse(said.split('\n', 1)[0] ?? '') as ToolError).error.message, world);
      const next = await resume(verb, journal);
      resumes += next.resumes;
      said = next.said;
    }
  } catch (error) {
    problems.push(`deciding conflicts: ${String(error)}`);
  }
  if (said !== undefined) problems.push(`${verb} --resume did not reach its goal in ${resumes} runs: ${said}`);
  return { resumes, conflicts };
}

interface ToolError {
  readonly error: { readonly message: string };
}

/** What the operation did not do although it said so. Without its journal a reshard is not taken up again, only cleaned up. */
async function missed(
  operation: Operation,
  deleted: string,
  journal: string,
  withoutJournal: boolean,
  world: World,
): Promise<readonly string[]> {
  if (operation === 'delete') return stillKnownBy(deleted, world);
  return withoutJournal ? [] : misplacedSlots(journal, world);
}

/** The keys that may be lost by it if its replica takes over. */
async function killServer(victim: Member, followUp: FollowUp, world: World): Promise<ReadonlySet<string>> {
  const permit = await LossPermit.mark(victim, world);
  const heirs = (await world.members()).filter(({ primaryId }) => primaryId === victim.id).map(({ id }) => id);
  await victim.server.kill9();
  const keys = permit.keys();
  if (followUp === 'at-once') {
    await victim.server.restart();
    return keys;
  }
  // An election that fails, on a busy machine, is repeated after four node timeouts.
  await until('a replica of the killed primary took over', () => hasHeir(victim, heirs, world), { timeoutMs: 90_000 });
  await victim.server.restart();
  return keys;
}

/** One of its replicas is a primary now; or it owns nothing any more (drained before it was killed): then nobody takes over. */
async function hasHeir(victim: Member, heirs: readonly string[], world: World): Promise<boolean> {
  const primaries = (await world.members()).filter(({ role }) => role === 'primary');
  return primaries.some(({ id }) => heirs.includes(id)) || !(await world.owners()).includes(victim.id);
}

async function goOnWithoutJournal(what: readonly string[], entry: string, problems: string[]): Promise<void> {
  await reeve('fix', entry, '--yes', '--json').catch((error: unknown) => problems.push(`fix: ${String(error)}`));
  if (what[0] !== 'del-node') return;
  const { code, stdout } = await new Tool([...what, '--yes', '--json', '--wait-limit', '60']).result;
  if (code !== 0) problems.push(`del-node after fix ended with ${code}: ${stdout}`);
}
