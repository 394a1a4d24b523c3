/**
 * kill -9 of pods, agents, the control plane, or all at once, at random moments of what the Redis operator does, on real servers under
 * traffic; and in simulation the death of the operator at its every effect. It converges, nothing is lost, no slot is left open, no
 * process is there twice, none is orphaned, and exit codes of the meantime are known.
 *
 *     npm run proof -- redis-operator-kill [--rounds 100] [--agent-rounds 30] [--seed 1] [--every 1] [--struck 30]
 *         [--only real|simulated] [--operation NAME] [--victim NAME] [--stage NAME]
 *
 * `--agent-rounds`: of a cluster with an agent in each pod, on a control plane of its own; agents are among what is killed there.
 * `--every` 10: a tenth of the simulated deaths, for trying out. `--struck`: at how many of the moments of a stage a server dies, too.
 */
import { parseArgs } from 'node:util';
import { generator } from './lib/random.ts';
import { type OperationName, planRounds, type RoundPlan } from './operator-kill/plan.ts';
import { KillWorld, type RoundResult } from './operator-kill/round.ts';
import { type Simulated, simulateDeaths } from './operator-kill/simulated.ts';
import { writeResult } from './result.ts';

const LEAST_ROUNDS = 100;
/** Every operation meets every victim. */
const LEAST_AGENT_ROUNDS = 30;
const LEAST_STRUCK = 30;
/** When nothing is being done there is nothing to be measured. */
const IDLE_MS = 3_000;

interface Real {
  readonly plans: readonly RoundPlan[];
  readonly results: readonly RoundResult[];
}

interface Asked {
  readonly rounds: number;
  readonly seed: number;
  readonly hasAgents: boolean;
  isWanted(plan: RoundPlan): boolean;
}

export default async function redisOperatorKill(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: String(LEAST_ROUNDS) },
      'agent-rounds': { type: 'string', default: String(LEAST_AGENT_ROUNDS) },
      seed: { type: 'string', default: '1' },
      every: { type: 'string', default: '1' },
      struck: { type: 'string', default: String(LEAST_STRUCK) },
      stage: { type: 'string' },
      only: { type: 'string' },
      operation: { type: 'string' },
      victim: { type: 'string' },
    },
  });
  const isWanted = ({ operation, victim }: RoundPlan) =>
    (values.operation ?? operation) === operation && (values.victim ?? victim) === victim;
  const { every, stage = '' } = values;
  const struck = Number(values.struck);
  // Beside the real rounds, and behind them where both want a processor.
  const simulating = values.only === 'real' ? undefined : simulateDeaths({ every: Number(every), struck, stage });
  const asked = { seed: Number(values.seed), isWanted };
  const isReal = values.only !== 'simulated';
  const real = isReal ? await killRounds({ ...asked, rounds: Number(values.rounds), hasAgents: false }) : NONE;
  const agentRounds = Number(values['agent-rounds']);
  const agents = isReal ? await killRounds({ ...asked, rounds: agentRounds, hasAgents: true }) : NONE;
  const simulated = await simulating;
  const lives = simulated?.stages.reduce((sum, stage) => sum + stage.lives, 0) ?? 0;
  // What was chosen by a name that nothing has proves nothing.
  const hasRun = simulated ? lives > 0 : real.results.length + agents.results.length > 0;
  // A part is for trying out; only the whole is a result.
  const isWhole =
    struck >= LEAST_STRUCK && real.results.length >= LEAST_ROUNDS && agents.results.length >= LEAST_AGENT_ROUNDS;
  const known = real.results.reduce((sum, { exitsKnown }) => sum + exitsKnown, 0);
  const isKnown = known > 0 || !isWhole; // else nobody can say whether exit codes are
  const ok = hasRun && isKnown && (simulated?.problems.length ?? 0) === 0 && isGood(real) && isGood(agents);
  if (!simulated || every !== '1' || stage !== '' || !isWhole) return ok;
  writeResult('redis-operator-kill', ok, paragraphs(simulated, { real, agents }, values.seed));
  return ok;
}

const NONE: Real = { plans: [], results: [] };

const badOf = ({ results }: Real) => results.filter(({ problems }) => problems.length > 0);
const isGood = (real: Real) => badOf(real).length === 0 && real.results.length === real.plans.length;

async function killRounds({ rounds, seed, hasAgents, isWanted }: Asked): Promise<Real> {
  const plans = planRounds(rounds, generator(seed), hasAgents).filter(isWanted);
  if (plans.length === 0) return NONE;
  const world = await KillWorld.open(hasAgents);
  const results: RoundResult[] = [];
  try {
    const windows = new Map<OperationName, number>([['idle', IDLE_MS]]);
    for (const { operation } of plans) {
      if (windows.has(operation)) continue;
      windows.set(operation, await world.measure(operation));
      process.stdout.write(`undisturbed: ${operation} takes ${windows.get(operation)?.toFixed(0)} ms\n`);
    }
    for (const plan of plans) {
      const result = await world.round(plan, windows.get(plan.operation) ?? IDLE_MS);
      results.push(result);
      process.stdout.write(`${line(result)}\n`);
      if (result.problems.length > 0) break; // what follows on a broken cluster proves nothing
    }
  } finally {
    await world.end();
  }
  return { plans, results };
}

function line({ plan, killedAfterMs, hit, agentsHit, writes, losses, task, seconds, problems }: RoundResult): string {
  const { number, seed, operation, victim, manner, downMs } = plan;
  const how = victim === 'everything' ? 'whole pod' : manner;
  const agents = agentsHit > 0 ? `${agentsHit} agents, ` : '';
  const what = hit + agentsHit > 0 ? `${victim} (${hit} servers, ${agents}${how})` : victim;
  const outcome = problems.length === 0 ? 'ok' : `FAILED ${problems.join('; ')}`;
  const told = task === '' ? '' : `, task ${task}`;
  return `${number} seed ${seed}: ${operation}, ${what} killed after ${killedAfterMs.toFixed(0)} ms, down ${downMs} ms${told}, ${writes} writes, ${losses} lost unreplicated: ${outcome} (${seconds.toFixed(0)} s)`;
}

function paragraphs(
  simulated: Simulated,
  { real, agents }: { readonly real: Real; readonly agents: Real },
  seed: string,
): readonly string[] {
  const results = [...real.results, ...agents.results];
  const sum = (of: (result: RoundResult) => number) => results.reduce((total, result) => total + of(result), 0);
  const bad = [...badOf(real), ...badOf(agents)];
  const diedAlone = sum(({ plan, hit }) =>
    plan.victim === 'plane and pods' || plan.victim === 'everything' ? hit : 0,
  );
  return [
    `Real: ${real.results.length} of ${real.plans.length} rounds run on a 3+3 Valkey cluster on \`reeve up\`, and ${agents.results.length} of ${agents.plans.length} on one with an agent in each pod; ${bad.length} failed; seed ${seed}. ${sum(({ writes }) => writes)} acknowledged writes; lost: 0, but for ${sum(({ losses }) => losses)} that a primary had acknowledged and no replica confirmed (\`WAIT 1\`) before that primary was killed.`,
    `After each round: the cluster is as declared and Running; every acknowledged write of all rounds is there; our invariants and the server's own \`--cluster check\` find nothing, no open slot among it; each pod has one server and, where it should, one agent that is heard of; no process belongs to no pod; containers that nobody killed have the processes that they had, also when the control plane came back. In rounds that neither scale nor roll, no pod was replaced, hit or not, but for those of a cluster that was only being made. Of ${diedAlone} servers that died while the control plane was away, it knew the exit code of ${sum(({ exitsKnown }) => exitsKnown)} afterwards: 137 of those that were killed, 0 of those that had been asked to end; of the others whoever waits for exit codes had been killed, too, and it said that it did not know, or the operator had replaced the pod meanwhile. ${sum(({ agentsHit }) => agentsHit)} agents were killed.`,
    `Simulated: ${simulated.stages.reduce((total, { deaths }) => total + deaths, 0)} deaths of the operator, one a life: before and after each single write to the API and each command that changes a server (where slots move one by one, at 300 of these, evenly spread), and at some of all looks. ${simulated.problems.length} failed, ${simulated.seconds.toFixed(0)} s.`,
    [
      '| simulated stage | effects | with looks | deaths |',
      '|---|---|---|---|',
      ...simulated.stages.map(
        ({ stage, effects, withLooks, deaths }) => `| ${stage} | ${effects} | ${withLooks} | ${deaths} |`,
      ),
    ].join('\n'),
    tableOf(real),
    'With an agent in each pod:',
    tableOf(agents),
    ...simulated.problems.map((problem) => `Simulated: ${problem}`),
    ...bad.map(({ plan, problems }) => `Round ${plan.number}: ${problems.join('\n')}`),
  ];
}

function tableOf({ results }: Real): string {
  return [
    '| round | operation | killed | servers hit | agents hit | manner | after ms | down ms | exit codes known | task | writes | lost unreplicated | s | |',
    '|---|---|---|---|---|---|---|---|---|---|---|---|---|---|',
    ...results.map(row),
  ].join('\n');
}

function row(result: RoundResult): string {
  const { plan, problems } = result;
  const isDown = plan.victim !== 'pods' && plan.victim !== 'agents';
  const cells = [
    plan.number,
    plan.operation,
    plan.victim,
    result.hit || '',
    result.agentsHit || '',
    result.hit + result.agentsHit > 0 && plan.victim !== 'everything' ? plan.manner : '',
    result.killedAfterMs.toFixed(0),
    isDown ? plan.downMs : '',
    result.exitsKnown || '',
    result.task,
    result.writes,
    result.losses || '',
    result.seconds.toFixed(0),
    problems.length === 0 ? 'ok' : 'FAILED',
  ];
  return `| ${cells.join(' | ')} |`;
}
