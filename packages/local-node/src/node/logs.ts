/** What a container wrote. Both its outputs are in one file, in the order in which the kernel got them; there are no times in it. */
import type { Clock } from '@reeve/runtime';
import type { HostFiles } from '../host/host.ts';

export interface LogOptions {
  /** Only so many lines from the end. */
  readonly tailLines?: number;
  /** Go on until the run has ended. */
  readonly follow?: boolean;
  readonly signal: AbortSignal;
}

const CHUNK = 64 << 10;
const LOOK_MS = 100;
const LINE_END = 10;

export async function* readLog(
  ports: { readonly files: HostFiles; readonly clock: Clock },
  path: string,
  options: LogOptions,
  isOver: () => Promise<boolean>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { files, clock } = ports;
  const { follow = false, signal, tailLines } = options;
  let position = tailLines === undefined ? 0 : await tailOf(files, path, tailLines);
  for (;;) {
    signal.throwIfAborted();
    // Asked first: what was written before the end is read after it.
    const isLast = !follow || (await isOver());
    const { size = 0 } = (await files.stat(path)) ?? {};
    if (size < position) position = 0; // it was emptied because it had become too long
    for (;;) {
      const chunk = await files.readFrom(path, position, CHUNK);
      if (!chunk || chunk.length === 0) break;
      position += chunk.length;
      yield chunk;
    }
    if (isLast) return;
    await clock.sleep(LOOK_MS, signal);
  }
}

/** Where the last lines begin. */
async function tailOf(files: HostFiles, path: string, lines: number): Promise<number> {
  const { size = 0 } = (await files.stat(path)) ?? {};
  if (lines <= 0) return size;
  let end = size;
  // The end of the last line is not the beginning of another one.
  let missing = lines + ((await endsLine(files, path, size)) ? 1 : 0);
  while (end > 0) {
    const start = Math.max(0, end - CHUNK);
    const chunk = (await files.readFrom(path, start, end - start)) ?? new Uint8Array();
    for (let at = chunk.length - 1; at >= 0; at--) {
      if (chunk[at] === LINE_END && --missing === 0) return start + at + 1;
    }
    end = start;
  }
  return 0;
}

async function endsLine(files: HostFiles, path: string, size: number): Promise<boolean> {
  const last = size === 0 ? undefined : await files.readFrom(path, size - 1, 1);
  return last?.[0] === LINE_END;
}
