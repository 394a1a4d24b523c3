/** The dated result file of a proof or of a comparison, under `proofs/results`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '..', '..', 'proofs', 'results');

export function writeResult(name: string, ok: boolean, paragraphs: readonly string[]): string {
  mkdirSync(FOLDER, { recursive: true });
  const now = new Date().toISOString();
  const file = `${name}-${now.slice(0, 10)}.md`;
  const path = join(FOLDER, file);
  const head = `# ${name}: ${ok ? 'passed' : 'FAILED'}\n\n${now}, ${cpus().length} cores, Node ${process.version}.`;
  writeFileSync(path, `${[head, ...paragraphs].join('\n\n')}\n`);
  process.stdout.write(`${ok ? 'passed' : 'FAILED'}: proofs/results/${file}\n`);
  return path;
}
