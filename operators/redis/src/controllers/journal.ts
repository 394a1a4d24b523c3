/**
 * The journal of one operation: a file of JSON lines. Its first line holds the goal, which is all that is needed to
 * go on after a crash (the next commands follow from goal + observation); the rest is a report for people.
 */
import { type Clock, type Files, type Outcome, ReeveError } from '@reeve/runtime';
import type { RedisCommand } from '../api/commands.ts';
import type { Endpoint } from '../api/view.ts';

const JOURNAL_VERSION = 1;

export interface JournalHeader {
  readonly version: number;
  readonly operationId: string;
  readonly kind: string;
  readonly goal: unknown;
  readonly digest: string;
  /** Addresses to find the cluster by. No credentials: they are asked for again. */
  readonly seeds: readonly Endpoint[];
  readonly at: number;
}

export type JournalEntry =
  | { readonly entry: 'started'; readonly at: number; readonly number: number; readonly command: RedisCommand }
  | { readonly entry: 'ended'; readonly at: number; readonly number: number; readonly outcome: Outcome }
  | { readonly entry: 'resumed'; readonly at: number }
  | { readonly entry: 'stopped'; readonly at: number; readonly reason: string }
  | { readonly entry: 'reached'; readonly at: number };

/** An entry as its writer gives it; the journal adds the time. */
export type NewEntry = JournalEntry extends infer E ? (E extends JournalEntry ? Omit<E, 'at'> : never) : never;

export interface Journal {
  readonly path: string;
  readonly header: JournalHeader;
  append(entry: NewEntry): Promise<void>;
}

function journalAt(files: Files, clock: Clock, path: string, header: JournalHeader): Journal {
  return {
    path,
    header,
    append: (entry) => files.append(path, `${JSON.stringify({ ...entry, at: Math.round(clock.now()) })}\n`),
  };
}

export async function createJournal(
  files: Files,
  clock: Clock,
  path: string,
  header: Omit<JournalHeader, 'version' | 'at'>,
): Promise<Journal> {
  const whole: JournalHeader = { ...header, version: JOURNAL_VERSION, at: Math.round(clock.now()) };
  if ((await files.read(path)) !== undefined) {
    throw new ReeveError('JOURNAL_EXISTS', `journal ${path} exists already: it belongs to another operation`, {
      subjects: [path],
    });
  }
  await files.write(path, `${JSON.stringify(whole)}\n`);
  return journalAt(files, clock, path, whole);
}

export interface StoredJournal {
  readonly journal: Journal;
  readonly entries: readonly JournalEntry[];
  /** The operation reached its goal: nothing to resume. */
  readonly reached: boolean;
}

/** Reads a journal back. A torn last line (the process died while writing it) is left out; anything else broken is an error. */
export async function openJournal(files: Files, clock: Clock, path: string): Promise<StoredJournal> {
  const text = await files.read(path);
  if (text === undefined) throw new ReeveError('JOURNAL_MISSING', `no journal at ${path}`, { subjects: [path] });
  const lines = text.split('\n').filter((line) => line !== '');
  const parsed: unknown[] = [];
  for (const [index, line] of lines.entries()) {
    try {
      parsed.push(JSON.parse(line));
    } catch (cause) {
      if (index > 0 && index === lines.length - 1) break;
      throw new ReeveError('JOURNAL_BROKEN', `line ${index + 1} of journal ${path} is not JSON`, {
        subjects: [path],
        cause,
      });
    }
  }
  const [header, ...entries] = parsed as [JournalHeader | undefined, ...JournalEntry[]];
  if (
    typeof header !== 'object' ||
    header === null ||
    header.version !== JOURNAL_VERSION ||
    typeof header.kind !== 'string'
  ) {
    throw new ReeveError('JOURNAL_BROKEN', `${path} is not a journal of this version of reeve`, { subjects: [path] });
  }
  if (lines.length > parsed.length) {
    // Without its torn end, so that the next line appended starts on a line of its own.
    await files.write(path, `${parsed.map((line) => JSON.stringify(line)).join('\n')}\n`);
  }
  return {
    journal: journalAt(files, clock, path, header),
    entries,
    reached: entries.some((entry) => entry.entry === 'reached'),
  };
}
