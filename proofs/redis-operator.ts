/**
 * The Redis suite through the API: a declared cluster on `reeve up`, six worker nodes over three zones, from its creation over growth,
 * losses of hosts and zones to damage that is mended by itself, backups and upgrades; clusters with TLS and users of their own; with
 * writers and readers all the time, judged after each step by our invariants and by the server package's own check.
 *
 *     npm run proof -- redis-operator [--product valkey|redis] [--only TEXT]...
 *
 * `--only`: the steps whose name contains one of these, and the creation of what they are about, for trying out.
 */
import { parseArgs } from 'node:util';
import type { Product } from '@reeve/rig';
import { type Played, Stage, type Step } from './operator/stage.ts';
import { steps } from './operator/steps.ts';
import { writeResult } from './result.ts';

export default async function redisOperator(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: { product: { type: 'string' }, only: { type: 'string', multiple: true } },
  });
  const products = (['valkey', 'redis'] as const).filter((product) => (values.product ?? product) === product);
  const played: Played[] = [];
  let wanted = 0;
  for (const product of products) {
    const chosen = stepsOf(product, values.only);
    wanted += chosen.length;
    if (chosen.length > 0) played.push(...(await playAll(product, chosen)));
  }
  if (wanted === 0) process.stdout.write('no step has such a name\n');
  const bad = played.filter(({ problems }) => problems.length > 0);
  const ok = bad.length === 0 && wanted > 0 && played.length === wanted;
  // A part is for trying out; only the whole is a result.
  if (values.only !== undefined || values.product !== undefined) return ok;
  const sum = (of: (one: Played) => number) => played.reduce((total, one) => total + of(one), 0);
  writeResult('redis-operator', ok, [
    `${played.length - bad.length} of ${wanted} steps, through the API alone, on \`reeve up --nodes 6 --zones a,b,c\`; each ends with a whole cluster that our invariants and the server's own \`--cluster check\` find nothing wrong with, and one process for each pod.`,
    `${sum(({ writes }) => writes)} acknowledged writes, all of them there at the end of their step and of each later one, but for ${sum(({ losses }) => losses)} that a primary had acknowledged and no replica confirmed (\`WAIT 1\`) before that primary was killed. No client error was left after redirects and retries; latency includes them.`,
    table(played),
    ...bad.map(({ product, step, problems }) => `## ${product}: ${step}\n\n\`\`\`\n${problems.join('\n')}\n\`\`\``),
  ]);
  return ok;
}

/** A step needs the cluster that it is about. */
function stepsOf(product: Product, only: readonly string[] = ['']): readonly Step[] {
  const possible = steps.filter(({ products = [product] }) => products.includes(product));
  const wanted = possible.filter(({ name }) => only.some((text) => name.includes(text)));
  const isNeeded = ({ isFirst, on }: Step) => isFirst === true && wanted.some((step) => step.on === on);
  return possible.filter((step) => wanted.includes(step) || isNeeded(step));
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
