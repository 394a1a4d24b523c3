/**
 * Every scenario on real Valkey and Redis servers, driven through the command line, with writers and readers running all
 * the time; each ends with the server package's own `--cluster check` and our invariants.
 *
 *     npm run proof -- redis-scenarios [--product valkey|redis] [--only TEXT]
 */
import { parseArgs } from 'node:util';
import { type Figures, type Scenario, scenarios } from '@reeve/redis/scenarios';
import type { Product } from '@reeve/rig';
import { writeResult } from './result.ts';

interface Played {
  readonly product: Product;
  readonly scenario: Scenario;
  readonly figures?: Figures;
  readonly problem?: string;
}

async function play(product: Product, scenario: Scenario): Promise<Played> {
  const began = performance.now();
  try {
    const figures = await scenario.run(product);
    process.stdout.write(`ok      ${product.padEnd(6)} ${scenario.name} (${figures.seconds.toFixed(1)} s)\n`);
    return { product, scenario, figures };
  } catch (error) {
    const problem = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    process.stdout.write(`FAILED  ${product.padEnd(6)} ${scenario.name} (${seconds} s)\n${problem}\n`);
    return { product, scenario, problem };
  }
}

function row({ product, scenario, figures }: Played): string {
  if (!figures) return `| ${product} | ${scenario.name} | FAILED | | | | | | | |`;
  const { seconds, writes, reads, redirects, retries, p99, max, lost } = figures;
  const numbers = [seconds.toFixed(1), writes, reads, redirects, retries, p99.toFixed(1), max.toFixed(0), lost || ''];
  return `| ${product} | ${scenario.name} | ok | ${numbers.join(' | ')} |`;
}

export default async function redisScenarios(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({ args: [...args], options: { product: { type: 'string' }, only: { type: 'string' } } });
  const products = (['valkey', 'redis'] as const).filter(
    (product) => values.product === undefined || values.product === product,
  );
  const chosen = scenarios.filter(({ name }) => values.only === undefined || name.includes(values.only));
  const played: Played[] = [];
  for (const product of products) for (const scenario of chosen) played.push(await play(product, scenario));
  const ok = played.length > 0 && played.every(({ figures }) => figures !== undefined);
  const judges = new Set(played.flatMap(({ product, figures }) => (figures ? [`${product}: ${figures.judge}`] : [])));
  const table = [
    '| product | scenario | | s | writes | reads | redirects | retries | p99 ms | max ms | lost by async replication |',
    '|---|---|---|---|---|---|---|---|---|---|---|',
    ...played.map(row),
  ].join('\n');
  const failures = played.flatMap(({ product, scenario, problem }) =>
    problem === undefined ? [] : [`## ${product}: ${scenario.name}\n\n\`\`\`\n${problem}\n\`\`\``],
  );
  // A part is for trying out; only the whole is a result.
  if (values.only === undefined && values.product === undefined) {
    writeResult('redis-scenarios', ok, [
      `${played.filter(({ figures }) => figures).length} of ${played.length} scenarios, judged at the end of each by our invariants and by ${[...judges].join(', ')} \`--cluster check --cluster-search-multiple-owners\`.`,
      'Redirects are MOVED and ASK; retries are TRYAGAIN, CLUSTERDOWN and broken connections; latency includes them. No client error was left after them. "lost by async replication": writes acknowledged after the last moment at which the replica was known to have everything, by a primary that was then killed.',
      table,
      ...failures,
    ]);
  }
  return ok;
}
