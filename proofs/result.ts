/** The dated result file of a proof. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';

export function writeResult(name: string, ok: boolean, paragraphs: readonly string[]): string {
  const folder = join(import.meta.dirname, 'results');
  mkdirSync(folder, { recursive: true });
  const day = new Date().toISOString().slice(0, 10);
  const path = join(folder, `${name}-${day}.md`);
  const head = `# ${name}: ${ok ? 'passed' : 'FAILED'}\n\n${new Date().toISOString()}, ${cpus().length} cores, Node ${process.version}.`;
  writeFileSync(path, `${[head, ...paragraphs].join('\n\n')}\n`);
  process.stdout.write(`${ok ? 'passed' : 'FAILED'}: proofs/results/${name}-${day}.md\n`);
  return path;
}
