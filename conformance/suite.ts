/** Runs cases on both servers, several at once: each has a namespace, a group and names of its own. */
import type { Case } from './case.ts';
import { differences, type Difference, judged } from './compare.ts';
import type { Explanation } from './explained.ts';
import { normalised } from './normal.ts';
import { type Names, record } from './record.ts';
import type { Server } from './server.ts';

export interface Selected {
  readonly area: string;
  readonly one: Case;
}

export interface Servers {
  readonly real: Server;
  readonly embedded: Server;
}

export interface Outcome {
  readonly area: string;
  readonly name: string;
  /** Nobody knows why. */
  readonly unexplained: readonly Difference[];
  readonly explainedBy: readonly Explanation[];
  /** Rows of the table that no difference needs any more. */
  readonly stale: readonly Explanation[];
  /** The case is not about what it says: the real server answered otherwise. */
  readonly surprises: readonly string[];
}

/** Steps that write wait for the next second, so that most of a case is waiting. */
const AT_ONCE = 12;

export async function runCases(
  selected: readonly Selected[],
  servers: Servers,
  explanations: readonly Explanation[],
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  const waiting = selected.entries();
  const work = async (): Promise<void> => {
    for (const [index, { area, one }] of waiting) {
      outcomes[index] = await runCase(one, area, namesOf(area, index), servers, explanations);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return outcomes;
}

export function namesOf(area: string, index: number): Names {
  const id = `${area}-${index}`;
  return { id, ns: `ns-${id}`, group: `${id}.example.com` };
}

async function runCase(
  one: Case,
  area: string,
  names: Names,
  { real, embedded }: Servers,
  explanations: readonly Explanation[],
): Promise<Outcome> {
  const rows = explanations.filter((row) => row.area === area && row.case === one.name);
  try {
    const [reals, ours] = await Promise.all([record(one, real, names), record(one, embedded, names)]);
    const found = differences([...normalised(reals, one)], [...normalised(ours, one)]);
    const { unexplained, rows: used } = judged(found, rows);
    const stale = rows.filter((row) => !used.includes(row));
    return { area, name: one.name, unexplained, explainedBy: used, stale, surprises: reals.surprises };
  } catch (error) {
    const surprises = [error instanceof Error ? (error.stack ?? error.message) : String(error)];
    return { area, name: one.name, unexplained: [], explainedBy: [], stale: [], surprises };
  }
}
