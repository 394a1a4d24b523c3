/** One round: an operation under traffic, one kill -9 at a random moment, the way on, and the judges. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Product, type Server, startServers, startTraffic, temporaryFolder, until } from '@reeve/rig';
import { misplacedSlots, stillKnownBy } from './goal.ts';
import { countLosses, LossPermit } from './losses.ts';
import { decideConflicts } from './person.ts';
import { address, begun, reeve, Tool } from './tool.ts';
import type { Member, World } from './world.ts';

export type Operation = 'create' | 'reshard' | 'delete';
export type Victim = 'tool' | 'source' | 'target';
/** What happens to a killed server: started again at once, or only after its replica took over. */
export type Return = 'at-once' | 'after-failover';

export interface RoundPlan {
  readonly number: number;
  readonly product: Product;
  readonly operation: Operation;
  readonly engine: Engine;
  readonly victim: Victim;
  readonly comesBack: Return;
  /** After a killed tool: the journal, or nothing but `fix` (and the operation asked for anew). */
  readonly wayOn: 'resume' | 'fix';
  /** 0–1: how far into the operation the kill falls. */
  readonly moment: number;
}

export interface RoundResult {
  readonly plan: RoundPlan;
  readonly killedAfterMs: number;
  /** The tool had ended before the kill: the round proves less. */
  readonly tooLate: boolean;
  readonly journalLines: number;
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

/** How long each operation takes undisturbed with each engine, from its journal's beginning: the window in which the kill falls. */
export type Windows = ReadonlyMap<string, number>;
const SLOTS = 1200;
/** The last part of create waits until the servers serve; nothing is changed any more then. */
const CREATE_WINDOW_MS = 900;
const MOST_RESUMES = 6;

export async function killRound(plan: RoundPlan, world: World, windows: Windows): Promise<RoundResult> {
  const began = performance.now();
  if (plan.operation === 'create') return createRound(plan, CREATE_WINDOW_MS, began);
  return changeRound(plan, world, windows.get(`${plan.operation} ${plan.engine}`) ?? 1000, began);
}

/** One undisturbed run of each, timed. */
export async function measureWindows(world: World): Promise<Windows> {
  const windows = new Map<string, number>();
  for (const operation of ['reshard', 'delete'] as const) {
    for (const engine of ['auto', 'windowed'] as const) {
      const { source, target } = pickPair(await world.members(), 0);
      const witness = (await world.members()).find((member) => ![source.id, target.id].includes(member.id)) as Member;
      const journal = join(temporaryFolder('kill'), `${operation}.journal.json`);
      const line = lineFor(operation, engine, address(witness.server.endpoint), source, target);
      const tool = new Tool([...line, '--yes', '--json', '--journal', journal]);
      await begun(tool, journal);
      const from = performance.now();
      const { code, stdout, stderr } = await tool.result;
      if (code !== 0) throw new Error(`an undisturbed ${operation} failed: ${stdout}\n${stderr}`);
      windows.set(`${operation} ${engine}`, performance.now() - from);
      await world.repair();
      const problems = await world.judge();
      if (problems.length > 0) throw new Error(`after an undisturbed ${operation}: ${problems.join('; ')}`);
    }
  }
  return windows;
}

function lineFor(
  operation: Operation,
  engine: Engine,
  entry: string,
  source: Member,
  target: Member,
): readonly string[] {
  const pace = ['--engine', engine, '--fast'];
  return operation === 'reshard'
    ? [
        'reshard',
        entry,
        '--from',
        source.id,
        '--to',
        target.id,
        '--slots',
        String(Math.min(SLOTS, source.slots - 1)),
        ...pace,
      ]
    : ['del-node', entry, '--node', source.id, ...pace];
}

function journalLines(path: string): number {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').length - 1 : 0;
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}

interface Resumed {
  readonly resumes: number;
  /** What the tool said last when it did not reach its goal. */
  readonly said?: string;
}

/** Resumes until the goal is reached, or a person must decide. Only what the tool itself calls temporary may need more than one. */
async function resume(verb: string, journal: string): Promise<Resumed> {
  let said = '';
  for (let resumes = 1; resumes <= MOST_RESUMES; resumes++) {
    const result = await new Tool([verb, '--resume', journal, '--wait-limit', '60', '--json']).result;
    if (result.code === 0) return { resumes };
    said = `${result.stdout}\n${result.stderr}`;
    if (said.includes('KEY_CONFLICT')) return { resumes, said };
  }
  return { resumes: MOST_RESUMES, said };
}

async function createRound(plan: RoundPlan, windowMs: number, began: number): Promise<RoundResult> {
  const servers = await startServers(6, { product: plan.product, nodeTimeoutMs: 2000 });
  const problems: string[] = [];
  const journal = join(temporaryFolder('kill'), 'create.journal.json');
  try {
    const tool = new Tool([
      'create',
      ...servers.map(({ endpoint }) => address(endpoint)),
      '--replicas',
      '1',
      '--yes',
      '--json',
      '--journal',
      journal,
    ]);
    await begun(tool, journal);
    const delay = plan.moment * windowMs;
    await pause(delay);
    const tooLate = tool.ended;
    const lines = journalLines(journal);
    if (plan.victim === 'tool') tool.kill9();
    else {
      const server = servers[plan.victim === 'source' ? 0 : 5] as Server;
      await server.kill9();
      await pause(50);
      await server.restart();
    }
    const { code } = await tool.result;
    const { resumes, said } = code === 0 ? { resumes: 0 } : await resume('create', journal);
    if (said !== undefined) problems.push(`create --resume did not reach its goal: ${said}`);
    const judged = await judgeNew(plan.product, servers);
    problems.push(...judged);
    return {
      plan,
      killedAfterMs: delay,
      tooLate,
      journalLines: lines,
      resumes,
      conflicts: 0,
      permittedLosses: 0,
      problems,
      tookMs: performance.now() - began,
    };
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

async function judgeNew(product: Product, servers: readonly Server[]): Promise<readonly string[]> {
  const { invariants, serverCheck } = await import('@reeve/rig');
  const endpoints = servers.map(({ endpoint }) => endpoint);
  let problems: readonly string[] = [];
  const settled = async () => {
    problems = await invariants(endpoints, { replicasPerPrimary: 1 });
    const check = await serverCheck(product, endpoints[0] as Server['endpoint']);
    if (check.code !== 0) problems = [...problems, check.output];
    return problems.length === 0;
  };
  await until('the new cluster is in order', settled, { timeoutMs: 60_000, everyMs: 250 }).catch(() => undefined);
  return problems;
}

/** Source: gives slots. Target: takes slots. In a deletion the source is the node that goes. */
function pickPair(members: readonly Member[], number: number): { source: Member; target: Member } {
  const primaries = members.filter((member) => member.role === 'primary' && member.slots > 0);
  const source = primaries[number % primaries.length] as Member;
  const target = primaries[(number + 1 + (number % (primaries.length - 1))) % primaries.length] as Member;
  return source === target
    ? { source, target: primaries[(number + 1) % primaries.length] as Member }
    : { source, target };
}

async function changeRound(plan: RoundPlan, world: World, windowMs: number, began: number): Promise<RoundResult> {
  const problems: string[] = [];
  const { source, target } = pickPair(await world.members(), plan.number);
  const witness = (await world.members()).find((member) => ![source.id, target.id].includes(member.id)) as Member;
  const entry = address(witness.server.endpoint);
  const traffic = await startTraffic(world.endpoints, {
    keyPrefix: `round${plan.number}`,
    keys: 1200,
    pauseMs: 2,
    patienceMs: 120_000,
  });
  const journal = join(temporaryFolder('kill'), `${plan.operation}.journal.json`);
  const what = lineFor(plan.operation, plan.engine, entry, source, target);
  const verb = what[0] as string;
  const tool = new Tool([...what, '--yes', '--json', '--wait-limit', '60', '--journal', journal]);
  await begun(tool, journal);
  const delay = plan.moment * windowMs;
  await pause(delay);
  const tooLate = tool.ended;
  const lines = journalLines(journal);
  const killed = plan.victim === 'tool' ? undefined : plan.victim === 'source' ? source : target;
  const behindMark = killed ? await killServer(killed, plan.comesBack, world) : new Set<string>();
  if (!killed) tool.kill9();

  const { code, stdout } = await tool.result;
  let resumed: Resumed = { resumes: 0 };
  const withoutJournal = code !== 0 && plan.wayOn === 'fix' && plan.victim === 'tool';
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
  const tookOver = killed && (plan.comesBack === 'after-failover' || (await world.isReplica(killed.server)));
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
    killedAfterMs: delay,
    tooLate,
    journalLines: lines,
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
async function killServer(victim: Member, comesBack: Return, world: World): Promise<ReadonlySet<string>> {
  const permit = await LossPermit.mark(victim, world);
  const heirs = (await world.members()).filter(({ primaryId }) => primaryId === victim.id).map(({ id }) => id);
  await victim.server.kill9();
  const keys = permit.keys();
  if (comesBack === 'at-once') {
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
