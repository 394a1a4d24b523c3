/** Which program stands for an image, from what was found of it. Pure. */
import { type Entry, type Fetchable, sourceText, toolsOf } from './entry.ts';
import type { Installed } from './installed.ts';
import { compareVersions, fits } from './reference.ts';

/** What was found out about an entry. */
export interface Findings {
  /** In the order of PATH. */
  readonly installed: readonly Installed[];
  /** Versions that were fetched before. */
  readonly cached: readonly string[];
  /** Programs that are missing, of those that some version needs. */
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

/** What is on PATH comes first, then what was fetched before, then what can be fetched. */
export function choose(entry: Entry, wanted: string | undefined, findings: Findings): Choice {
  const found = findings.installed.find(({ version }) => version !== undefined && fits(version, wanted));
  if (found?.version !== undefined) return { type: 'installed', path: found.path, version: found.version };
  const fitting = entry.fetchable.filter(
    ({ version, arch }) => fits(version, wanted) && (arch === undefined || arch === findings.arch),
  );
  const usable = fitting.filter((one) => lacks(one, findings) === undefined);
  const cached = usable.find(({ version }) => findings.cached.includes(version));
  if (cached) return { type: 'cached', fetchable: cached };
  const fetchable = usable.find(({ source }) => !toolsOf(source).some((tool) => findings.missing.includes(tool)));
  if (fetchable) return { type: 'fetch', fetchable };
  return { type: 'none', why: whyNot(entry, wanted, findings, fitting) };
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
  { name, installed, fetchable, unavailable }: Entry,
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
    const tools = toolsOf(one.source).filter((tool) => findings.missing.includes(tool));
    const problem = lacks(one, findings) ?? `needs ${tools.join(' and ')}, which this machine has not`;
    tried.push(`version ${one.version} from ${sourceText(one.source)} ${problem}`);
  }
  if (fitting.length === 0) {
    const others = fetchable.filter(({ arch }) => arch === undefined || arch === findings.arch);
    tried.push(
      others.length === 0
        ? (unavailable ?? `there is nothing to fetch for ${findings.arch}`)
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
