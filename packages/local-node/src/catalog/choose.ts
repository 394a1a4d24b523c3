/** Which program stands for an image, from what was found of it. Pure. */
import { type Entry, type Fetchable, originText, toolsOf } from './entry.ts';
import type { Installed } from './installed.ts';
import { compareVersions, fits } from './reference.ts';

/** What was found out about an entry. */
export interface Findings {
  /** In the order of PATH. */
  readonly installed: readonly Installed[];
  /** Versions that were fetched before. */
  readonly cached: readonly string[];
  /** Tools that are missing, by name, of those that some version needs. */
  readonly missing: readonly string[];
  /** Programs that some version needs, as they are. */
  readonly needed: Readonly<Record<string, readonly Installed[]>>;
  /** Node's name of the processor. */
  readonly arch: string;
}

export type Choice =
  | { readonly type: 'installed'; readonly path: string; readonly version: string }
  | { readonly type: 'cached'; readonly fetchable: Fetchable }
  | { readonly type: 'fetch'; readonly fetchable: Fetchable }
  | { readonly type: 'none'; readonly why: string };

/**
 * What is on PATH comes first; then the best version that was fetched before or can be fetched. Not whatever lies in the cache: a name
 * would stand for another version once somebody else has fetched one, and no server reads what a newer one wrote.
 */
export function choose(entry: Entry, wanted: string | undefined, findings: Findings): Choice {
  const found = findings.installed.find(({ version }) => version !== undefined && fits(version, wanted));
  if (found?.version !== undefined) return { type: 'installed', path: found.path, version: found.version };
  const fitting = entry.fetchable.filter(
    ({ version, arch }) => fits(version, wanted) && (arch === undefined || arch === findings.arch),
  );
  for (const fetchable of fitting) {
    if (lacks(fetchable, findings) !== undefined) continue;
    if (findings.cached.includes(fetchable.version)) return { type: 'cached', fetchable };
    const isFetchable = !toolsOf(fetchable).some(({ name }) => findings.missing.includes(name));
    if (isFetchable) return { type: 'fetch', fetchable };
  }
  return { type: 'none', why: whyNot(entry, wanted, findings, fitting) };
}

/** Other versions than the one that is taken without a tag: those that a tag can ask for. */
export function otherVersions(entry: Entry, findings: Findings): readonly string[] {
  const taken = versionOf(choose(entry, undefined, findings));
  const others = entry.fetchable.flatMap(
    ({ version }) => versionOf(choose(entry, version, { ...findings, installed: [] })) ?? [],
  );
  return [...new Set(others)].filter((version) => version !== taken);
}

function versionOf(choice: Choice): string | undefined {
  switch (choice.type) {
    case 'installed':
      return choice.version;
    case 'cached':
    case 'fetch':
      return choice.fetchable.version;
    case 'none':
      return undefined;
  }
}

/** What it needs besides itself and is not there, in words. */
function lacks({ needs }: Fetchable, { needed }: Findings): string | undefined {
  if (!needs) return undefined;
  const versions = (needed[needs.program] ?? []).flatMap(({ version }) => version ?? []);
  if (versions.some((version) => compareVersions(version, needs.atLeast) >= 0)) return undefined;
  const there = versions.length === 0 ? 'is not on PATH' : `on PATH is ${versions.join(', ')}`;
  return `needs ${needs.program} ${needs.atLeast} or newer, which ${there}`;
}

/** What was looked for, and what a person can do. */
function whyNot(
  { name, installed, fetchable }: Entry,
  wanted: string | undefined,
  findings: Findings,
  fitting: readonly Fetchable[],
): string {
  const called = wanted === undefined ? name : `${name} ${wanted}`;
  const tried: string[] = [];
  if (installed) {
    const there = findings.installed.map(({ path, version }) => `${path} is ${version ?? 'another program'}`);
    tried.push(there.length === 0 ? `${installed.program} is not on PATH` : there.join(', '));
  }
  for (const one of fitting) {
    const tools = toolsOf(one).flatMap(({ name: tool }) => (findings.missing.includes(tool) ? [tool] : []));
    const problem = lacks(one, findings) ?? `needs ${tools.join(' and ')}, which this machine has not`;
    tried.push(`version ${one.version} from ${originText(one)} ${problem}`);
  }
  if (fitting.length === 0) {
    const others = fetchable.filter(({ arch }) => arch === undefined || arch === findings.arch);
    tried.push(
      others.length === 0
        ? `there is nothing to fetch for ${findings.arch}`
        : `only ${others.map(({ version }) => version).join(', ')} can be fetched`,
    );
  }
  const remedy = installed ? `; put ${installed.program}${wanted === undefined ? '' : ` ${wanted}`} on PATH` : '';
  return `${called} cannot be had here: ${tried.join('; ')}${remedy}`;
}

const MEGABYTE = 1_000_000;

export function sizeText(bytes: number): string {
  return `${(bytes / MEGABYTE).toFixed(1)} MB`;
}
