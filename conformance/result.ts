/** The dated result file, beside those of the proofs. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { explanations } from './explained.ts';

export function writeResult(isGood: boolean, paragraphs: readonly string[]): string {
  const folder = join(import.meta.dirname, '..', 'proofs', 'results');
  mkdirSync(folder, { recursive: true });
  const now = new Date().toISOString();
  const name = `conformance-${now.slice(0, 10)}.md`;
  const head = `# conformance: ${isGood ? 'passed' : 'FAILED'}\n\n${now}, ${cpus().length} cores, Node ${process.version}. The real server is kube-apiserver of the rig.`;
  const rows = explanations.map(
    ({ area, case: one, field, why, kind }) => `| ${area} | ${one} | \`${field}\` | ${kind}: ${why} |`,
  );
  const known = ['## Explained', '', '| area | case | field | why |', '|---|---|---|---|', ...rows].join('\n');
  writeFileSync(join(folder, name), `${[head, ...paragraphs, known].join('\n\n')}\n`);
  return `${isGood ? 'passed' : 'FAILED'}: proofs/results/${name}`;
}
