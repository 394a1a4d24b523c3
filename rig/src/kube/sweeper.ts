/** Removes a folder when we are gone, however we went: private keys and databases do not stay behind. */
import { spawn } from 'node:child_process';

/** A dying server may still be writing: a few tries. */
const SCRIPT = 'cat; for i in 1 2 3 4 5; do rm -rf -- "$1" && break; sleep 1; done';

/** @returns what ends the watch over `folder`, and removes it. */
export function sweepAfterUs(folder: string): () => void {
  // It waits for the end of its input, which the kernel brings about when we end. Detached: Ctrl-C is not meant for it.
  const sweeper = spawn('sh', ['-c', SCRIPT, 'sh', folder], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  sweeper.on('error', () => undefined); // without a shell the folder is removed only if we end in good order
  sweeper.unref();
  (sweeper.stdin as unknown as { unref(): void }).unref();
  return () => sweeper.stdin.end();
}
