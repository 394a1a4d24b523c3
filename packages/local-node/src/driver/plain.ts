/** No namespaces: a container sees the machine. Mounts do not appear anywhere; instead their paths are put in the place of the ones meant. */
import type { Box, Driver, Mount } from './driver.ts';

/**
 * A mount path as a whole word becomes the path on this machine: where it begins and ends there is nothing that could belong to a name.
 * `/data/x` follows `/data`; `/database` and `/srv/data` do not.
 */
export function relocate(text: string, mounts: readonly Pick<Mount, 'source' | 'target'>[]): string {
  if (mounts.length === 0) return text;
  // Longest first: `/data/logs` is not `logs` below what `/data` stands for.
  const sorted = [...mounts].sort((a, b) => b.target.length - a.target.length);
  const words = sorted.map(({ target }) => escaped(target.replace(/\/+$/, ''))).join('|');
  const pattern = new RegExp(`(?<![\\w./~-])(${words})(?![\\w.~-]|/\\.\\.)`, 'g');
  const sources = new Map(sorted.map(({ target, source }) => [target.replace(/\/+$/, ''), source]));
  return text.replaceAll(pattern, (word) => sources.get(word) ?? word);
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

const CHANGE_FOLDER = 'cd "$0" && exec "$@"';

export const plainDriver: Driver = {
  name: 'plain',
  hasMounts: false,
  async wrap({ argv, env, mounts, workingDir }: Box) {
    const moved = argv.map((word) => relocate(word, mounts));
    const movedEnv = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, relocate(value, mounts)]));
    const folder = workingDir === undefined ? undefined : relocate(workingDir, mounts);
    return { argv: folder === undefined ? moved : ['/bin/sh', '-c', CHANGE_FOLDER, folder, ...moved], env: movedEnv };
  },
  mainOf: ({ pid, startTime }, table) => table.find((row) => row.pid === pid && row.startTime === startTime),
  enter: (_main, command, mounts) => command.map((word) => relocate(word, mounts)),
};
