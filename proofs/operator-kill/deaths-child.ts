/** A share of all deaths, in a process of its own: `deaths-child.ts INDEX OF EVERY STRUCK [STAGE]`. Lines of JSON: what was lived, every few lives. */
import { type Death, live, type Stage } from './deaths.ts';
import { stages } from './stages.ts';

/** Of one stage, since the last report. */
export interface DeathReport {
  readonly stage: string;
  /** Of an undisturbed life: what changes something, and with every look at a server. */
  readonly effects: number;
  readonly withLooks: number;
  readonly lives: number;
  readonly deaths: number;
  readonly problems: readonly string[];
}

const REPORT_EVERY = 25;
/** Whoever dies between two looks has left what he left before them: a few of these deaths are enough. */
const DEATHS_AT_LOOKS = 24;

/** Slots that move one by one are thousands of effects of few kinds: of such a stage so many deaths, evenly spread. */
const MOST_DEATHS = 600;

/** Deaths with a server are all played if they are few. */
const FEW_STRUCK = 120;
const SERVERS = 6;

/** Who wants to know. */
const asker = process.ppid;
const [index = 0, of = 1, every = 1, mostStruck = 0] = process.argv.slice(2).map(Number);

/** Every effect, before it happens and after; then some among all looks. */
function deathsOf(effects: number, withLooks: number): readonly Death[] {
  const deaths: Death[] = [];
  const apart = Math.max(1, (2 * effects) / MOST_DEATHS);
  for (let number = 0, after = 0; after < effects; number++, after = Math.floor(number * apart)) {
    for (const comes of ['before', 'after'] as const) deaths.push({ after, comes, looksCount: false });
  }
  const step = Math.max(1, Math.ceil(withLooks / DEATHS_AT_LOOKS));
  for (let after = 0; after < withLooks; after += step) deaths.push({ after, comes: 'before', looksCount: true });
  return deaths.filter((_, number) => number % every === 0);
}

/** With a server each: evenly spread over all moments, before and after, and all servers of a small cluster. */
function struckDeathsOf(effects: number): readonly Death[] {
  const all = effects * SERVERS;
  const apart = every * Math.max(1 / 2, 2 * all <= FEW_STRUCK ? 0 : all / mostStruck);
  const deaths: Death[] = [];
  for (let number = 0, at = 0; at < all; number++, at = Math.floor(number * apart)) {
    const comes = number % 2 === 0 ? 'before' : 'after';
    deaths.push({ after: at % effects, comes, looksCount: false, server: Math.floor(at / effects) });
  }
  return deaths;
}

async function play(stage: Stage): Promise<void> {
  const undisturbed = { after: Number.POSITIVE_INFINITY, comes: 'before' } as const;
  const calm = await live(stage, { ...undisturbed, looksCount: false });
  const looking = await live(stage, { ...undisturbed, looksCount: true });
  const withLooks = looking.effects;
  let lives = 0;
  let deaths = 0;
  let problems = [calm, looking].flatMap(({ problem }) => (problem === undefined ? [] : [`undisturbed: ${problem}`]));
  let name = stage.name;
  const report = () => {
    const line: DeathReport = { stage: name, effects: calm.effects, withLooks, lives, deaths, problems };
    process.stdout.write(`${JSON.stringify(line)}\n`);
    [lives, deaths, problems] = [0, 0, []];
  };
  const playAll = async (all: readonly Death[]) => {
    for (const [number, death] of all.entries()) {
      if (number % of !== index) continue;
      if (process.ppid !== asker) process.exit(1); // nobody is left to be told
      const life = await live(stage, death);
      lives++;
      deaths += life.deaths;
      const who = death.server === undefined ? '' : ` with server ${death.server}`;
      const where = `death ${death.comes} effect ${death.after}${death.looksCount ? ' with looks' : ''}${who}`;
      if (life.problem !== undefined) problems.push(`${where}: ${life.problem}`);
      else if (life.deaths === 0) problems.push(`${where} did not come: this life had ${life.effects}`);
      if (lives >= REPORT_EVERY) report();
    }
    report();
  };
  await playAll(deathsOf(calm.effects, withLooks));
  name = `${stage.name}; a server dies, too`;
  await playAll(struckDeathsOf(calm.effects));
}

const only = process.argv[6] ?? '';
for (const stage of stages) if (stage.name.includes(only)) await play(stage);
