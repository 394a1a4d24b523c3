/** What a container wrote. Both its outputs are in one file, in the order in which the kernel got them; there are no times in it. */
import type { Clock } from '@reeve/runtime';
import type { HostFiles, OpenFile } from '../host/host.ts';

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
  // Kept open: when a pod goes, its last lines go with its folder, unless somebody still holds them.
  let file = await files.open(path);
  try {
    let position = file && tailLines !== undefined ? await tailOf(file, tailLines) : 0;
    for (;;) {
      signal.throwIfAborted();
      // Asked first: what was written before the end is read after it.
      const isLast = !follow || (await isOver());
      file ??= await files.open(path);
      if (file && (await file.size()) < position) position = 0; // it was emptied because it had become too long
      for (;;) {
        const chunk = await file?.readFrom(position, CHUNK);
        if (!chunk || chunk.length === 0) break;
        position += chunk.length;
        yield chunk;
      }
      if (isLast) return;
      await clock.sleep(LOOK_MS, signal);
    }
  } finally {
    await file?.[Symbol.asyncDispose]();
  }
}

/** Where the last lines begin. */
async function tailOf(file: OpenFile, lines: number): Promise<number> {
  const size = await file.size();
  if (lines <= 0) return size;
  let end = size;
  // The end of the last line is not the beginning of another one.
  let missing = lines + ((await endsLine(file, size)) ? 1 : 0);
  while (end > 0) {
    const start = Math.max(0, end - CHUNK);
    const chunk = await file.readFrom(start, end - start);
    for (let at = chunk.length - 1; at >= 0; at--) {
      if (chunk[at] === LINE_END && --missing === 0) return start + at + 1;
    }
    end = start;
  }
  return 0;
}

async function endsLine(file: OpenFile, size: number): Promise<boolean> {
  const last = size === 0 ? undefined : await file.readFrom(size - 1, 1);
  return last?.[0] === LINE_END;
}
