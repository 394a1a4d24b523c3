/**
 * The same requests to the real kube-apiserver and to the embedded server; equal after one normalisation, or explained.
 *
 *     npm run conformance                                  all cases, then 20,000 random sequences; writes a result file
 *     npm run conformance -- --area NAME[,NAME] --case TEXT    some cases
 *     npm run conformance -- --fuzz N --seed N[,N…] --kind KIND     random sequences only
 *     npm run conformance -- --only embedded|real …            prints what one server answers
 */
import { parseArgs } from 'node:util';
import { writeResult } from '@reeve/rig';
import { areas } from './areas/index.ts';
import { explanations } from './explained.ts';
import { fuzz, type FuzzResult } from './fuzz/fuzz.ts';
import { printRecordings } from './recordings.ts';
import { explanationTable, fuzzLines, summary } from './report.ts';
import { startEmbedded, startReal } from './server.ts';
import { runCases, type Selected, type Servers } from './suite.ts';

const SEQUENCES = 20_000;

const { values } = parseArgs({
  options: {
    area: { type: 'string' },
    case: { type: 'string' },
    only: { type: 'string' },
    fuzz: { type: 'string' },
    seed: { type: 'string', default: '1' },
    kind: { type: 'string' },
  },
});

const say = (line: string): boolean => process.stdout.write(`${line}\n`);

const selected: Selected[] = areas
  .filter(({ name }) => values.area === undefined || values.area.split(',').includes(name))
  .flatMap(({ name, cases }) =>
    cases
      .filter((one) => values.case === undefined || one.name.includes(values.case))
      .map((one) => ({ area: name, one })),
  );
if (selected.length === 0) {
  process.stderr.write(`no such case; areas are ${areas.map(({ name }) => name).join(', ')}\n`);
  process.exit(2);
}
const isWhole = values.area === undefined && values.case === undefined && values.fuzz === undefined;

const errors: unknown[] = [];
const onError = (error: unknown): number => errors.push(error);
if (values.only !== undefined) {
  await using server = await (values.only === 'real' ? startReal() : startEmbedded(onError));
  await printRecordings(selected, server);
} else {
  await using embedded = await startEmbedded(onError);
  await using real = await startReal();
  const isGood = await compare({ real, embedded });
  process.exitCode = isGood && errors.length === 0 ? 0 : 1;
}
for (const error of errors) console.error(error);

async function compare(servers: Servers): Promise<boolean> {
  const paragraphs: string[] = [];
  let isGood = true;
  if (values.fuzz === undefined) {
    const started = performance.now();
    const { lines, table, isGood: areEqual } = summary(await runCases(selected, servers, explanations));
    lines.forEach(say);
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    say(`${selected.length} cases in ${seconds} s`);
    paragraphs.push(`${selected.length} cases in ${seconds} s.`, table.join('\n'));
    isGood = areEqual;
  }
  if (isWhole || values.fuzz !== undefined) {
    const result = await randomSequences(servers);
    const lines = fuzzLines(result);
    lines.forEach(say);
    paragraphs.push(...lines);
    if (result.different.length > 0) isGood = false;
  }
  if (isWhole) {
    const what = 'The real server is kube-apiserver of the rig.';
    writeResult('conformance', isGood && errors.length === 0, [what, ...paragraphs, explanationTable(explanations)]);
  }
  return isGood;
}

/** As many as asked for from the first one on; or those that are named. */
function seeds(): readonly number[] {
  const named = values.seed.split(',').map(Number);
  const [first = 1] = named;
  if (named.length > 1) return named;
  return Array.from({ length: Number(values.fuzz ?? SEQUENCES) }, (_, index) => first + index);
}

function randomSequences(servers: Servers): Promise<FuzzResult> {
  return fuzz(servers, {
    seeds: seeds(),
    ...(values.kind === undefined ? {} : { kind: values.kind }),
    onProgress: say,
  });
}
