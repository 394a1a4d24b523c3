/** Regular expressions: `matches` of the language, `find` and `findAll` of Kubernetes. */
import { method, fn, type Overload, type Run } from '../function.ts';
import { CostExceeded, EvaluationError, type Meter } from '../meter.ts';
import { Pattern, PatternTooDear } from '../../format/pattern.ts';
import { BOOL, type CelType, INT, listOf, STRING } from '../type.ts';
import { ArrayList, type Value } from '../value.ts';

type Use = (pattern: Pattern, text: string, most: bigint) => Value;

function compiled(source: string, complaint: string): Pattern {
  const pattern = Pattern.compile(source);
  if (typeof pattern === 'string') throw new EvaluationError(complaint + pattern);
  return pattern;
}

function apply(use: Use, pattern: Pattern, args: readonly Value[], meter: Meter): Value {
  const text = args[0] as string;
  // Half, so that all of an evaluation's work is one second or two at the very worst.
  meter.work(Math.ceil(pattern.steps(text) / 2));
  try {
    return use(pattern, text, (args[2] as bigint | undefined) ?? -1n);
  } catch (error) {
    throw error instanceof PatternTooDear ? new CostExceeded() : error;
  }
}

/** A pattern that is a constant is compiled once. */
function withPattern(overload: Overload, complaint: string, use: Use): Overload {
  const run: Run = (args, meter) => apply(use, compiled(args[1] as string, complaint), args, meter);
  return {
    ...overload,
    run,
    prepare: ([, source]) => {
      if (typeof source !== 'string') return undefined;
      const pattern = compiled(source, complaint);
      return (args, meter) => apply(use, pattern, args, meter);
    },
  };
}

const unused: Run = () => null;
const test: Use = (pattern, text) => pattern.test(text);
const find: Use = (pattern, text) => pattern.find(text);
const findAll: Use = (pattern, text, most) => new ArrayList(most === 0n ? [] : pattern.findAll(text, Number(most)));
const texts: readonly CelType[] = [STRING, STRING];

export const patterns: readonly Overload[] = [
  withPattern(method('matches', 'matches_string', texts, BOOL, unused), '', test),
  withPattern(fn('matches', 'matches', texts, BOOL, unused), '', test),
  withPattern(method('find', 'string_find_string', texts, STRING, unused), 'Illegal regex: ', find),
  withPattern(method('findAll', 'string_find_all_string', texts, listOf(STRING), unused), 'Illegal regex: ', findAll),
  withPattern(
    method('findAll', 'string_find_all_string_int', [...texts, INT], listOf(STRING), unused),
    'Illegal regex: ',
    findAll,
  ),
];
