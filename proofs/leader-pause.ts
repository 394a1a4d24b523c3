/**
 * A leader that writes without pause is stopped (SIGSTOP) at random points past its lease, another takes over and writes, the first
 * is resumed: no write of it lands in the term of the other. On a real kube-apiserver, judged from its own history.
 *
 *     npm run proof -- leader-pause [--rounds 50] [--control 5] [--seed 1]
 */
import { parseArgs } from 'node:util';
import { startKube } from '@reeve/rig';
import { generator } from './lib/random.ts';
import type { Verdict } from './pause/judge.ts';
import { PauseWorld, type RoundResult } from './pause/world.ts';
import { writeResult } from './result.ts';

interface Run {
  readonly rounds: readonly RoundResult[];
  readonly verdict: Verdict;
  readonly refusals: Readonly<Record<string, number>>;
}

async function run(rounds: number, random: () => number, fenced: boolean): Promise<Run> {
  await using kube = await startKube();
  await using world = await PauseWorld.open(kube, { random, fenced });
  const results: RoundResult[] = [];
  for (let round = 0; round < rounds; round++) {
    const result = await world.round();
    results.push(result);
    const { stale, writes } = world.judge.verdict();
    process.stdout.write(
      `${fenced ? 'round' : 'control'} ${round}: ${result.paused} was stopped, taken over after ${Math.round(result.takenAfterMs)} ms, resumed ${result.resumed}; ${writes} writes so far, ${stale.length} stale\n`,
    );
  }
  return { rounds: results, verdict: world.judge.verdict(), refusals: world.refusals };
}

export default async function leaderPause(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '50' },
      control: { type: 'string', default: '5' },
      seed: { type: 'string', default: '1' },
    },
  });
  const random = generator(Number(values.seed));
  const { rounds, verdict, refusals } = await run(Number(values.rounds), random, true);
  const control = Number(values.control) > 0 ? await run(Number(values.control), random, false) : undefined;
  const isJudged = control === undefined || control.verdict.stale.length > 0;
  const problems = [...verdict.stale, ...verdict.problems, ...(isJudged ? [] : ['the control saw no stale write'])];
  const ok = problems.length === 0 && verdict.terms > rounds.length;
  const resumed = (when: RoundResult['resumed']) => rounds.filter((round) => round.resumed === when).length;
  writeResult('leader-pause', ok, [
    `${rounds.length} rounds on a real kube-apiserver, seed ${values.seed}. Two managers in processes of their own (lease 3 s, renewed within 2 s, every 0.4 s), eight keys written without pause: statuses, patches, creations, deletions, each marked with its term. The leader was stopped (SIGSTOP) and resumed (SIGCONT) when the Lease was in other hands: ${resumed('at the take-over')} times in that very moment, ${resumed('after the first writes')} times after the new leader’s first write, ${resumed('later')} times up to a second later.`,
    `The clock of one of the two does not count the time in which it was stopped, as on a machine that slept: its own check is blind, and only the server’s fence is left. It was the one stopped in ${rounds.filter(({ paused }) => paused === 'b').length} rounds.`,
    `${verdict.writes} writes in ${verdict.terms} terms, as the server’s history tells them (watches, ordered by resourceVersion). Stale writes, of an earlier term after one of a later term: ${verdict.stale.length}. Writes of the old leader after the Lease had changed hands and before the new leader’s first write, which docs/designs/0010-manager.md allows: ${verdict.between}. What the processes were refused: ${JSON.stringify(refusals)} (NOT_LEADING by their own client, KUBE_FORBIDDEN by the server).`,
    ...(control
      ? [
          `Control: ${control.rounds.length} rounds without the fence and with blind clocks on both sides, where stale writes must be seen: ${control.verdict.stale.length} of ${control.verdict.writes} writes were stale.`,
        ]
      : []),
    ...(problems.length === 0
      ? []
      : [
          problems
            .slice(0, 100)
            .map((one) => `- ${one}`)
            .join('\n'),
        ]),
  ]);
  return ok;
}
