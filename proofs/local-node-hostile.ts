/**
 * Bad input and programs that misbehave, on a control plane as a user has it: each is told clearly, and everything else goes on. A healthy
 * pod beside it keeps its process, and the API answers all the time.
 *
 *     npm run proof -- local-node-hostile [--only TEXT]
 */
import { parseArgs } from 'node:util';
import { cases } from './local-node-hostile/cases.ts';
import { diskUsed, fullDisk } from './local-node-hostile/full-disk.ts';
import { type Looks, Place } from './local-node-hostile/place.ts';
import { refusals } from './local-node-hostile/refusals.ts';
import { writeResult } from './result.ts';
import { Site } from './site/site.ts';

interface Played {
  readonly name: string;
  readonly said: string;
  readonly seconds: number;
  readonly looks?: Looks;
  readonly problems: readonly string[];
}

export default async function localNodeHostile(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({ args: [...args], options: { only: { type: 'string' } } });
  const isChosen = ({ name }: { readonly name: string }) => values.only === undefined || name.includes(values.only);
  const played: Played[] = [];
  const site = await Site.open('valkey');
  try {
    const place = new Place(site.machine);
    await place.startHealthy();
    const inFrontOfOthers = [
      ...cases.map(({ name, run }) => ({ name, run: () => run(place) })),
      ...refusals.map(({ name, run }) => ({ name: `refused: ${name}`, run: () => run(site) })),
    ];
    for (const { name, run } of inFrontOfOthers.filter(isChosen)) {
      played.push(await play(name, () => place.during(run)));
    }
  } finally {
    await site.end();
  }
  const disk = { name: `a full disk (${diskUsed})` };
  if (isChosen(disk)) played.push(await play(disk.name, async () => ({ value: await fullDisk(), looks: undefined })));
  const ok = played.length > 0 && played.every(({ problems }) => problems.length === 0);
  // A part is for trying out; only the whole is a result.
  if (values.only === undefined) writeResult('local-node-hostile', ok, paragraphs(played));
  return ok;
}

async function play(
  name: string,
  run: () => Promise<{ readonly value: string; readonly looks: Looks | undefined }>,
): Promise<Played> {
  const began = performance.now();
  const seconds = () => (performance.now() - began) / 1_000;
  let one: Played;
  try {
    const { value, looks } = await run();
    one = { name, said: value, seconds: seconds(), ...(looks && { looks }), problems: looks?.problems ?? [] };
  } catch (error) {
    const problem = error instanceof Error ? (error.stack ?? error.message) : String(error);
    one = { name, said: '', seconds: seconds(), problems: [problem] };
  }
  const outcome = one.problems.length === 0 ? 'ok     ' : 'FAILED ';
  process.stdout.write(`${outcome} ${name} (${one.seconds.toFixed(1)} s)\n        ${one.said.slice(0, 600)}\n`);
  for (const problem of one.problems.slice(0, 5)) process.stdout.write(`${problem}\n`);
  return one;
}

function paragraphs(played: readonly Played[]): readonly string[] {
  const bad = played.filter(({ problems }) => problems.length > 0);
  const looks = played.reduce((sum, one) => sum + (one.looks?.count ?? 0), 0);
  const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').slice(0, 500);
  return [
    `${played.length - bad.length} of ${played.length} cases on \`reeve up\`. In front of all but the last, a healthy pod and the API were looked at ${looks} times, four times a second: the same run of the same pod, and an answer, each time.`,
    [
      '| case | what was said | s | looks | slowest look, ms | |',
      '|---|---|---|---|---|---|',
      ...played.map(
        ({ name, said, seconds, looks: seen, problems }) =>
          `| ${cell(name)} | ${cell(said)} | ${seconds.toFixed(1)} | ${seen?.count ?? ''} | ${seen ? seen.slowestMs.toFixed(0) : ''} | ${problems.length === 0 ? 'ok' : 'FAILED'} |`,
      ),
    ].join('\n'),
    ...bad.map(({ name, problems }) => `## ${name}\n\n\`\`\`\n${problems.slice(0, 10).join('\n')}\n\`\`\``),
  ];
}
