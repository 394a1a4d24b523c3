/** Removes folders when we are gone, however we went: private keys and databases do not stay behind. */
import { spawn } from 'node:child_process';

/** Reads names until its input ends, then removes what they name. A dying server may still be writing: a few tries. */
const SCRIPT =
  'while IFS= read -r f; do set -- "$@" "$f"; done; for i in 1 2 3 4 5; do rm -rf -- "$@" && break; sleep 1; done';

let tell: ((line: string) => void) | undefined;

/** The kernel ends the sweeper's input when we end. */
export function sweepAfterUs(folder: string): void {
  tell ??= startSweeper();
  tell(`${folder}\n`);
}

function startSweeper(): (line: string) => void {
  // Detached: Ctrl-C is not meant for it. It does not keep us alive, and nobody waits for it.
  const sweeper = spawn('sh', ['-c', SCRIPT, 'sh'], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  sweeper.on('error', () => undefined); // without a shell folders are removed only if we end in good order
  sweeper.stdin.on('error', () => undefined);
  sweeper.unref();
  (sweeper.stdin as unknown as { unref(): void }).unref();
  return (line) => sweeper.stdin.write(line);
}
