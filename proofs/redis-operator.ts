/**
 * The Redis suite through the API: a declared cluster on `reeve up`, six worker nodes over three zones, from its creation over growth,
 * losses of hosts and zones to damage that is mended by itself; with writers and readers all the time, judged after each step by our
 * invariants and by the server package's own check.
 *
 *     npm run proof -- redis-operator [--product valkey|redis] [--only TEXT]
 *
 * `--only`: the creation and the steps whose name contains TEXT, for trying out.
 */
import { parseArgs } from 'node:util';
import type { Product } from '@reeve/rig';
import { type Played, Stage, type Step } from './operator/stage.ts';
import { steps } from './operator/steps.ts';
import { writeResult } from './result.ts';

export default async function redisOperator(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({ args: [...args], options: { product: { type: 'string' }, only: { type: 'string' } } });
  const products = (['valkey', 'redis'] as const).filter((product) => (values.product ?? product) === product);
  const chosen = steps.filter(
    ({ name, isFirst }) => isFirst || values.only === undefined || name.includes(values.only),
  );
  const played: Played[] = [];
  for (const product of products) played.push(...(await playAll(product, chosen)));
  const bad = played.filter(({ problems }) => problems.length > 0);
  const ok = bad.length === 0 && played.length === products.length * chosen.length;
  // A part is for trying out; only the whole is a result.
  if (values.only !== undefined || values.product !== undefined) return ok;
  const sum = (of: (one: Played) => number) => played.reduce((total, one) => total + of(one), 0);
  writeResult('redis-operator', ok, [
    `${played.length - bad.length} of ${products.length * chosen.length} steps, through the API alone, on \`reeve up --nodes 6 --zones a,b,c\`; each ends with a whole cluster that our invariants and the server's own \`--cluster check\` find nothing wrong with, and one process for each pod.`,
    `${sum(({ writes }) => writes)} acknowledged writes, all of them there at the end of their step and of each later one, but for ${sum(({ losses }) => losses)} that a primary had acknowledged and no replica confirmed (\`WAIT 1\`) before that primary was killed. No client error was left after redirects and retries; latency includes them.`,
    table(played),
    ...bad.map(({ product, step, problems }) => `## ${product}: ${step}\n\n\`\`\`\n${problems.join('\n')}\n\`\`\``),
  ]);
  return ok;
}

async function playAll(product: Product, chosen: readonly Step[]): Promise<readonly Played[]> {
  const stage = await Stage.open(product);
  const played: Played[] = [];
  try {
    for (const step of chosen) {
      const one = await stage.play(step);
      played.push(one);
      const { seconds, problems } = one;
      const outcome = problems.length === 0 ? 'ok     ' : 'FAILED ';
      process.stdout.write(`${outcome} ${product.padEnd(6)} ${step.name} (${seconds.toFixed(1)} s)\n`);
      if (problems.length === 0) continue;
      process.stdout.write(`${problems.join('\n')}\n`);
      break; // what follows on a broken cluster proves nothing
    }
  } finally {
    await stage.end();
  }
  return played;
}

function table(played: readonly Played[]): string {
  const rows = played.map(({ product, step, seconds, writes, losses, p99, max, problems }) => {
    const cells = [
      product,
      step,
      problems.length === 0 ? 'ok' : 'FAILED',
      seconds.toFixed(1),
      writes,
      p99.toFixed(1),
      max.toFixed(0),
      losses || '',
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    '| product | step | | s | writes | p99 ms | max ms | lost unreplicated |',
    '|---|---|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}
