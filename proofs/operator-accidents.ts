/**
 * The sample operator of the runtime, one accident at a time and all of them: a crash before and after every contact of every
 * process, a cancel of every task at every contact; then many seeds.
 *
 *     npm run proof -- operator-accidents [--seeds NUMBER] [--share INDEX/OF]
 */
import { parseArgs } from 'node:util';
import { findings, sampleScenario, type Through } from '@reeve/runtime/sample-operator';
import { type CampaignResult, enumerateCrashes, runSeeds } from '@reeve/simulation';
import { writeResult } from './result.ts';

const crashes = ['crash-before', 'crash-after'];
const cancels = ['cancel-t1', 'cancel-t2', 'cancel-t3', 'cancel-unseen'];

interface Part {
  readonly name: string;
  run(): Promise<CampaignResult>;
}

function partsOf(through: Through, seeds: number, share: { readonly index: number; readonly of: number }): Part[] {
  const each = (accidents: readonly string[]) =>
    enumerateCrashes(sampleScenario(through, { quiet: true }), { accidents, share });
  return [
    { name: `${through}: a crash around every contact`, run: () => each(crashes) },
    { name: `${through}: a cancel at every contact`, run: () => each(cancels) },
    {
      name: `${through}: seeds`,
      run: () => runSeeds(sampleScenario(through), { count: Math.ceil(seeds / share.of), from: share.index * seeds }),
    },
  ];
}

export default async function operatorAccidents(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({ args: [...args], options: { seeds: { type: 'string' }, share: { type: 'string' } } });
  const seeds = Number(values.seeds ?? 2_000);
  const [index = 0, of = 1] = (values.share ?? '0/1').split('/').map(Number);
  const rows: string[] = [];
  const failures: string[] = [];
  for (const through of ['process', 'members'] as const) {
    for (const { name, run } of partsOf(through, seeds, { index, of })) {
      const began = performance.now();
      const result = await run();
      const seconds = (performance.now() - began) / 1_000;
      const found = findings(result);
      failures.push(...found.map((one) => `- ${name}: ${one}`));
      rows.push(
        `| ${name} | ${result.runs} | ${result.steps} | ${result.accidents} | ${seconds.toFixed(0)} | ${found.length} |`,
      );
      process.stdout.write(`${rows.at(-1)}\n`);
    }
  }
  const ok = failures.length === 0;
  const table = ['| | runs | effects | accidents | s | failures |', '|---|---|---|---|---|---|', ...rows].join('\n');
  // A part is for trying out; only the whole is a result.
  if (of === 1) {
    writeResult('operator-accidents', ok, [
      'The sample operator (two kinds, two queues, an observer, three handlers, a parallel and a sequential task) on the embedded API server in memory: steps run in its own process, or through members and their agents. Every run must come to rest with the right size, all tasks ended or gone, nothing running; exclusion, order and reports are judged at every write.',
      table,
      ...failures,
    ]);
  }
  return ok;
}
