/** One round of creation: new servers, one kill -9 while they are made a cluster, the way on, and the judges. */
import { join } from 'node:path';
import { invariants, type Product, type Server, serverCheck, startServers, temporaryFolder, until } from '@reeve/rig';
import type { RoundPlan, RoundResult } from './rounds.ts';
import { address, begun, journalLines, pause, type Resumed, resume, Tool } from './tool.ts';

/** Longer than the servers themselves need for anything; so long the tool waits for one that is away. */
const GIVES_UP_AFTER_S = 10;

export async function createRound(plan: RoundPlan, windowMs: number, began: number): Promise<RoundResult> {
  const servers = await startServers(6, { product: plan.product, nodeTimeoutMs: 2000 });
  const problems: string[] = [];
  const journal = join(temporaryFolder('kill'), 'create.journal.json');
  const what = ['create', ...servers.map(({ endpoint }) => address(endpoint)), '--replicas', '1', '--yes', '--json'];
  const patience = plan.followUp === 'after-the-tool' ? ['--wait-limit', String(GIVES_UP_AFTER_S)] : [];
  try {
    const tool = new Tool([...what, ...patience, '--journal', journal]);
    await begun(tool, journal);
    const delay = plan.moment * windowMs;
    await pause(delay);
    const tooLate = tool.ended;
    const lines = journalLines(journal);
    const killed = plan.victim === 'tool' ? undefined : (servers[plan.victim === 'source' ? 0 : 5] as Server);
    if (killed) await killed.kill9();
    else tool.kill9();
    if (plan.followUp === 'at-once') await killed?.restart();
    const { code } = await tool.result;
    if (plan.followUp === 'after-the-tool') await killed?.restart();
    const { resumes, said } = code === 0 ? { resumes: 0 } : await goOn(plan, what, journal);
    if (said !== undefined) problems.push(`create did not reach its goal (${plan.followUp}): ${said}`);
    problems.push(...(await judgeNew(plan.product, servers)));
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

/** Without its journal a creation is just asked for again: it finds what is there already. */
async function goOn({ followUp }: RoundPlan, what: readonly string[], journal: string): Promise<Resumed> {
  if (followUp !== 'anew') return resume('create', journal);
  const { code, stdout, stderr } = await new Tool(what).result;
  return code === 0 ? { resumes: 0 } : { resumes: 0, said: `${stdout}\n${stderr}` };
}

async function judgeNew(product: Product, servers: readonly Server[]): Promise<readonly string[]> {
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
