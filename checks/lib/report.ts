/** What checks and test runs say about themselves. */

/**
 * What biome says about formats, as lines: the names of the files are enough, `npm run format` does the rest. When it
 * failed for another reason (it cannot read its settings) no file is named, and its own words are the problem.
 */
export function formatProblems(outputs: readonly string[]): readonly string[] {
  return outputs.flatMap((output) => {
    const names = [...output.matchAll(/^(\S+) format ━/gm)].map((match) => match[1] as string);
    return names.length === 0 ? [output] : names.map((name) => `${name} is not formatted: npm run format`);
  });
}

/** A line when something took longer than CONTRIBUTING promises. A warning: how fast the machine is proves nothing. */
export function overTime(what: string, seconds: number, limit: number): string | undefined {
  if (seconds <= limit) return undefined;
  return `WARNING: ${what} took ${seconds.toFixed(1)} s, more than the ${limit} s they should on a machine with nothing else to do`;
}
