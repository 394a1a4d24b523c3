/**
 * Every decision of a run goes through one source of choices, which writes down what it answered.
 * The list alone replays the run: a seed rots with the next commit, a list of choices only with the program's own steps.
 * 0 is always the dull answer (the oldest effect, no fault, the shortest delay), so that a list may end early and
 * shrinking means more zeros.
 */
import type { Random } from '@reeve/runtime';
import { type Prng, prng } from './random.ts';

export interface Choices {
  /** One of `options` ways: 0 ≤ answer < `options`. */
  pick(options: number): number;
  /**
   * Whether an accident comes at an effect of this label: 0 = none; k = the k-th (from 1) of the named ones, which are
   * only computed when needed.
   */
  strike(label: string, accidents: () => readonly string[]): number;
  /** The answers so far, without trailing zeros when read by `listOf`. */
  readonly made: readonly number[];
}

type Source = Omit<Choices, 'made'>;

function recorded(source: Source): Choices {
  const made: number[] = [];
  return {
    made,
    pick(options) {
      const answer = options > 1 ? source.pick(options) : 0;
      if (options > 1) made.push(answer);
      return answer;
    },
    strike(label, accidents) {
      const answer = source.strike(label, accidents);
      made.push(answer);
      return answer;
    },
  };
}

const NEW_LABEL_EFFECTS = 3;
const NEW_LABEL_BOOST = 6;

export interface Temper {
  /** About how many effects a quiet run has. Default 1000. */
  readonly effects?: number;
  /** No accidents at all. */
  readonly calm?: boolean;
}

/**
 * Choices from a seed. Each seed has a temper of its own: how many accidents it would bring over a whole run (from
 * one in every second run to thirty in each) and which kinds are left out, because some bugs need a storm and others
 * a single accident near the end. The first effects of a label are struck more often than the hundredth: what a
 * program does once would else hardly ever be hit.
 */
export function seededChoices(seed: number, temper: Temper = {}): Choices {
  const random = prng(seed);
  const rate = temper.calm ? 0 : Math.min(0.5, (0.5 * 60 ** random.next()) / (temper.effects ?? 1_000));
  const seen = new Map<string, number>();
  const rateOf = (label: string) => {
    const before = seen.get(label) ?? 0;
    seen.set(label, before + 1);
    return before < NEW_LABEL_EFFECTS ? rate * NEW_LABEL_BOOST : rate;
  };
  const silenced = new Map<string, boolean>();
  const isSilenced = (kind: string) => {
    let answer = silenced.get(kind);
    if (answer === undefined) {
      answer = random.next() < 0.4;
      silenced.set(kind, answer);
    }
    return answer;
  };
  return recorded({
    pick: (count) => random.below(count),
    strike(label, accidents) {
      if (random.next() >= rateOf(label)) return 0;
      const names = accidents();
      const kinds = [...new Set(names)].filter((name) => !isSilenced(name));
      if (kinds.length === 0) return 0;
      return pickNamed(names, kinds[random.below(kinds.length)], random);
    },
  });
}

function pickNamed(names: readonly string[], wanted: string | undefined, random: Prng): number {
  const places = names.flatMap((name, index) => (name === wanted ? [index + 1] : []));
  return places[random.below(places.length)] ?? 0;
}

/** Replays a list; after its end, and where an answer is no longer possible, the dull answer. */
export function replayedChoices(list: readonly number[]): Choices {
  let at = 0;
  const next = () => list[at++] ?? 0;
  return recorded({
    pick: (options) => Math.min(next(), options - 1),
    strike(_label, accidents) {
      const answer = next();
      return answer === 0 || answer > accidents().length ? 0 : answer;
    },
  });
}

export interface OneAccident {
  /** Orders the effects; without it always the oldest first. */
  readonly seed?: number;
  /** Counts only effects of this label. */
  readonly label?: string;
}

/** No accidents but one: the `nth` (from 1) time that `accident` can happen, it does. */
export function oneAccident(
  accident: string,
  nth: number,
  options: OneAccident = {},
): Choices & { readonly chances: number } {
  const order = options.seed === undefined ? undefined : prng(options.seed);
  let chances = 0;
  const choices = recorded({
    pick: (options) => order?.below(options) ?? 0,
    strike(label, accidents) {
      if (options.label !== undefined && options.label !== label) return 0;
      const place = accidents().indexOf(accident) + 1;
      if (place > 0) chances++;
      return place > 0 && chances === nth ? place : 0;
    },
  });
  return {
    ...choices,
    get chances() {
      return chances;
    },
  };
}

/** An accident brought about on purpose: at the first effect of this label at which it can happen. */
export interface Addition {
  readonly accident: string;
  readonly label: string;
}

/** The choices of a seed, and besides them each of the additions once. */
export function seededWith(additions: readonly Addition[], seed: number, temper: Temper = {}): Choices {
  const seeded = seededChoices(seed, temper);
  const due = new Set(additions);
  return recorded({
    pick: (options) => seeded.pick(options),
    strike(at, accidents) {
      for (const addition of due) {
        const place = addition.label === at ? accidents().indexOf(addition.accident) + 1 : 0;
        if (place === 0) continue;
        due.delete(addition);
        return place;
      }
      return seeded.strike(at, accidents);
    },
  });
}

/** Many random numbers from one choice, made when the first is asked for: jitter does not swell the list. */
export function chosenRandom(choices: Choices): Random {
  let source: Prng | undefined;
  return {
    next() {
      source ??= prng(choices.pick(0x10000));
      return source.next();
    },
  };
}

/** A list as short as it can be written: what follows the last decision that matters is all zeros. */
export function listOf(made: readonly number[]): readonly number[] {
  let length = made.length;
  while (length > 0 && made[length - 1] === 0) length--;
  return made.slice(0, length);
}

/** How many decisions of a list are not dull: the size that shrinking makes small. */
export function weightOf(list: readonly number[]): number {
  return list.reduce((sum, choice) => sum + (choice === 0 ? 0 : 1), 0);
}

/** Lists are mostly zeros: in files only the others are written, as [place, answer]. */
export function toSparse(list: readonly number[]): readonly (readonly [number, number])[] {
  return list.flatMap((choice, place) => (choice === 0 ? [] : [[place, choice] as const]));
}

export function fromSparse(pairs: readonly (readonly [number, number])[]): readonly number[] {
  const list = Array.from({ length: (pairs.at(-1)?.[0] ?? -1) + 1 }, () => 0);
  for (const [place, choice] of pairs) list[place] = choice;
  return list;
}
