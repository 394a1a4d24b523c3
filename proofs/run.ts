/** `npm run proof -- NAME [options]`: runs proofs/NAME.ts, whose default export answers whether it holds. */
import { readdirSync } from 'node:fs';

const [name, ...args] = process.argv.slice(2);
const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && !['run.ts', 'result.ts'].includes(file))
  .map((file) => file.slice(0, -'.ts'.length));

if (name === undefined || !names.includes(name)) {
  process.stderr.write(`npm run proof -- NAME, with NAME one of: ${names.join(', ')}\n`);
  process.exit(2);
}
const { default: prove } = (await import(`./${name}.ts`)) as { default: (args: readonly string[]) => Promise<boolean> };
process.exit((await prove(args)) ? 0 : 1);
