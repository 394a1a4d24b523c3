/** Semantic versions, with the words of the library that the server uses. */
import { goQuote } from './go-text.ts';

export interface Semver {
  readonly major: bigint;
  readonly minor: bigint;
  readonly patch: bigint;
  readonly prerelease: readonly string[];
}

const MOST = 2n ** 64n - 1n;

/** The version, or what is wrong with it. */
export function parseSemver(text: string): Semver | string {
  if (text === '') return 'Version string empty';
  const parts = text.split('.');
  if (parts.length < 3) return 'No Major.Minor.Patch elements found';
  const rest = parts.slice(2).join('.');
  const plus = rest.indexOf('+');
  const beforeBuild = plus < 0 ? rest : rest.slice(0, plus);
  const build = plus < 0 ? [] : rest.slice(plus + 1).split('.');
  const dash = beforeBuild.indexOf('-');
  const patchText = dash < 0 ? beforeBuild : beforeBuild.slice(0, dash);
  const prerelease = dash < 0 ? [] : beforeBuild.slice(dash + 1).split('.');
  const numbers: bigint[] = [];
  for (const [name, value] of [
    ['Major', parts[0] as string],
    ['Minor', parts[1] as string],
    ['Patch', patchText],
  ] as const) {
    if (!/^\d+$/.test(value)) return `Invalid character(s) found in ${name.toLowerCase()} number ${goQuote(value)}`;
    if (value.length > 1 && value.startsWith('0')) {
      return `${name} number must not contain leading zeroes ${goQuote(value)}`;
    }
    const number = value.length > 20 ? MOST + 1n : BigInt(value);
    if (number > MOST) return `strconv.ParseUint: parsing ${goQuote(value)}: value out of range`;
    numbers.push(number);
  }
  const problem = prereleaseProblem(prerelease) ?? buildProblem(build);
  if (problem !== undefined) return problem;
  const [major, minor, patch] = numbers as [bigint, bigint, bigint];
  return { major, minor, patch, prerelease };
}

function prereleaseProblem(parts: readonly string[]): string | undefined {
  for (const part of parts) {
    if (part === '') return 'Prerelease is empty';
    if (/^\d+$/.test(part)) {
      if (part.length > 1 && part.startsWith('0')) {
        return `Numeric PreRelease version must not contain leading zeroes ${goQuote(part)}`;
      }
    } else if (!/^[0-9A-Za-z-]+$/.test(part)) {
      return `Invalid character(s) found in prerelease ${goQuote(part)}`;
    }
  }
  return undefined;
}

function buildProblem(parts: readonly string[]): string | undefined {
  for (const part of parts) {
    if (part === '') return 'Build meta data is empty';
    if (!/^[0-9A-Za-z-]+$/.test(part)) return `Invalid character(s) found in build meta data ${goQuote(part)}`;
  }
  return undefined;
}

/** Forgives a leading v, missing numbers and leading zeros. */
export function parseTolerantly(text: string): Semver | string {
  const bare = text.startsWith('v') ? text.slice(1) : text;
  const dots = bare.split('.');
  const parts = dots.length > 3 ? [dots[0] ?? '', dots[1] ?? '', dots.slice(2).join('.')] : dots;
  const trimmed = parts.map((part) => {
    if (part.length <= 1) return part;
    const rest = part.replace(/^0+/, '');
    return /^\d/.test(rest) ? rest : `0${rest}`;
  });
  if (trimmed.length < 3) {
    if (/[+-]/.test(trimmed.at(-1) as string)) return 'short version cannot contain PreRelease/Build meta data';
    while (trimmed.length < 3) trimmed.push('0');
  }
  return parseSemver(trimmed.join('.'));
}

export function compareSemver(one: Semver, other: Semver): number {
  for (const part of ['major', 'minor', 'patch'] as const) {
    if (one[part] !== other[part]) return one[part] < other[part] ? -1 : 1;
  }
  if (one.prerelease.length === 0 || other.prerelease.length === 0) {
    // A version without a prerelease comes after all of its prereleases.
    return Math.sign(other.prerelease.length - one.prerelease.length);
  }
  for (let i = 0; i < Math.min(one.prerelease.length, other.prerelease.length); i++) {
    const order = comparePart(one.prerelease[i] as string, other.prerelease[i] as string);
    if (order !== 0) return order;
  }
  return Math.sign(one.prerelease.length - other.prerelease.length);
}

/** Numbers by size and before words, words by their letters. */
function comparePart(one: string, other: string): number {
  if (one === other) return 0;
  const isNumber = [one, other].map((part) => /^\d+$/.test(part));
  if (isNumber[0] && isNumber[1]) {
    return one.length === other.length ? (one < other ? -1 : 1) : Math.sign(one.length - other.length);
  }
  if (isNumber[0] !== isNumber[1]) return isNumber[0] ? -1 : 1;
  return one < other ? -1 : 1;
}
