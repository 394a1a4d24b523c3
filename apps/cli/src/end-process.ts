/** The end of this process, when its command is over. */
import { systemAfterwards } from '@reeve/runtime';
import type { ExitCode } from './errors.ts';

/** Whoever waits for us to end (`reeve down` for `reeve up`) has more patience than that. */
const LINGER_MS = 2_000;

/**
 * Ends by itself as soon as nothing is open any more. Something that somebody forgot to close must not keep it for good: then it is named,
 * and the process ends all the same. What was printed is waited for, however slowly it is read.
 */
export async function endProcess(code: ExitCode, lingerMs = LINGER_MS): Promise<void> {
  process.exitCode = code;
  await Promise.all([written(process.stdout), written(process.stderr)]);
  systemAfterwards(lingerMs, () => {
    process.stderr.write(`reeve: ended although something was still open: ${openText()}. Please report it.\n`);
    process.exit();
  });
}

function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.writableLength === 0) resolve();
    else stream.write('', () => resolve());
  });
}

/** By kind, as Node calls them. */
function openText(): string {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => (count > 1 ? `${count} ${kind}` : kind)).join(', ') || 'something';
}
