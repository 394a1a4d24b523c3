/** Many random sequences on both servers; what differs is made as short as it can be. */
import type { Case } from '../case.ts';
import { differences, type Difference, shown } from '../compare.ts';
import { normalised } from '../normal.ts';
import { type Names, record } from '../record.ts';
import type { Servers } from '../suite.ts';
import { sequence } from './generate.ts';
import { known } from './known.ts';

export interface FuzzOptions {
  /** A sequence each. */
  readonly seeds: readonly number[];
  /** Only sequences about this kind. */
  readonly kind?: string;
  readonly onProgress?: (line: string) => void;
}

export interface FuzzResult {
  readonly sequences: number;
  readonly operations: number;
  /** Answers of the real server, by code. */
  readonly codes: ReadonlyMap<number, number>;
  /** How many sequences differed in a known way only, by why. */
  readonly explained: ReadonlyMap<string, number>;
  /** How often a sequence was begun anew because the real server had no time for it. */
  readonly again: number;
  /** As texts: the shortest sequence, and where the servers differ. */
  readonly different: readonly string[];
  readonly seconds: number;
}

/** Steps that write wait for the next second, so that most of a sequence is waiting. */
const AT_ONCE = 250;
/** The real server gives addresses one by one: it must not be asked for all of them in its first second. */
const STAGGER_MS = 30;
const NAMESPACES = 16;
/** More would not be read. */
const MOST_SHRUNK = 20;
const EVERY = 1_000;

export async function fuzz(servers: Servers, options: FuzzOptions): Promise<FuzzResult> {
  const started = performance.now();
  const codes = new Map<number, number>();
  const explained = new Map<string, number>();
  const different: string[] = [];
  const waiting = options.seeds.values();
  let ended = 0;
  let operations = 0;
  let again = 0;
  const work = async (worker: number): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, worker * STAGGER_MS));
    for (const seed of waiting) {
      const one = sequence(seed, options.kind);
      const seen = await compared(one, servers, namesOf(String(seed)));
      operations += one.steps.length - 1;
      again += seen.attempts - 1;
      for (const code of seen.codes) codes.set(code, (codes.get(code) ?? 0) + 1);
      const why = seen.found.length === 0 ? undefined : known(one, seen.found);
      if (why !== undefined) explained.set(why, (explained.get(why) ?? 0) + 1);
      else if (seen.found.length > 0) {
        const text = different.length < MOST_SHRUNK ? await shortest(one, seed, servers, seen.found) : one.name;
        different.push(text);
        options.onProgress?.(text);
      }
      if (++ended % EVERY === 0) options.onProgress?.(progress(ended, different.length, performance.now() - started));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, (_, worker) => work(worker)));
  const seconds = (performance.now() - started) / 1000;
  return { sequences: ended, operations, codes, explained, again, different, seconds };
}

const progress = (ended: number, different: number, ms: number): string =>
  `${ended} sequences, ${different} different, ${((ended / ms) * 1000).toFixed(0)} a second`;

function namesOf(id: string): Names {
  const room = Number.parseInt(id, 10) % NAMESPACES;
  return { id: `f-${id}`, ns: `fuzz-${room}`, group: 'example.com' };
}

const TIMEOUT = 504;
const MOST_ATTEMPTS = 5;

interface Seen {
  readonly attempts: number;
  readonly found: readonly Difference[];
  readonly codes: readonly number[];
}

async function compared(one: Case, { real, embedded }: Servers, names: Names, attempt = 1): Promise<Seen> {
  const [reals, ours] = await Promise.all([record(one, real, names), record(one, embedded, names)]);
  // A real server without time says nothing about the sequence. What the embedded one says is never asked again.
  if (reals.recorded.some(({ code }) => code === TIMEOUT) && attempt < MOST_ATTEMPTS) {
    return compared(one, { real, embedded }, { ...names, id: `${names.id}-again` }, attempt + 1);
  }
  return {
    attempts: attempt,
    found: differences([...normalised(reals, one)], [...normalised(ours, one)]),
    codes: reals.recorded.flatMap(({ code }) => (code === undefined ? [] : [code])),
  };
}

/** Takes steps away as long as the rest still differs. */
async function shortest(one: Case, seed: number, servers: Servers, first: readonly Difference[]): Promise<string> {
  let best = one;
  let found = first;
  let attempt = 0;
  const differs = async (steps: Case['steps']): Promise<boolean> => {
    const tried = { ...one, steps };
    const { found: now } = await compared(tried, servers, namesOf(`${seed}-${attempt++}`));
    if (now.length === 0 || known(tried, now) !== undefined) return false;
    found = now;
    return true;
  };
  if (!(await differs(best.steps))) {
    return [`${one.name}: differed once and not again`, ...first.slice(0, 6).map(shown)].join('\n');
  }
  for (let at = best.steps.length - 1; at >= 0; at--) {
    const fewer = best.steps.filter((_, index) => index !== at);
    if (fewer.length > 0 && (await differs(fewer))) best = { ...best, steps: fewer };
  }
  await differs(best.steps);
  const steps = best.steps.map((step) => `  ${JSON.stringify(step)}`);
  return [best.name, ...steps, ...found.slice(0, 6).map(shown)].join('\n');
}
