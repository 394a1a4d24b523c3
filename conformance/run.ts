/**
 * The same cases on the real kube-apiserver and on the embedded server, equal after one normalisation.
 *
 *     npm run conformance [-- --area NAME] [--case TEXT] [--only embedded|real] [--fuzz N] [--seed N]
 */
import { parseArgs } from 'node:util';
import { areas } from './areas/index.ts';
import { explanations } from './explained.ts';
import { printRecordings } from './recordings.ts';
import { summary } from './report.ts';
import { startEmbedded, startReal } from './server.ts';
import { runCases, type Selected } from './suite.ts';

const { values } = parseArgs({
  options: {
    area: { type: 'string' },
    case: { type: 'string' },
    only: { type: 'string' },
  },
});

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

const errors: unknown[] = [];
if (values.only !== undefined) {
  await using server = values.only === 'real' ? await startReal() : await startEmbedded((error) => errors.push(error));
  await printRecordings(selected, server);
} else {
  await using embedded = await startEmbedded((error) => errors.push(error));
  await using real = await startReal();
  const outcomes = await runCases(selected, { real, embedded }, explanations);
  const { lines, isGood } = summary(outcomes);
  process.stdout.write(`${lines.join('\n')}\n`);
  process.exitCode = isGood && errors.length === 0 ? 0 : 1;
}
for (const error of errors) console.error(error);
