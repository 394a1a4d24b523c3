/** `npm run bench -- NAME [options]`: runs bench/src/NAME.ts. */
import { readdirSync } from 'node:fs';

const [name = '', ...rest] = process.argv.slice(2);
const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && file !== 'run.ts' && !file.endsWith('.test.ts'))
  .map((file) => file.slice(0, -3));
if (!names.includes(name)) {
  process.stderr.write(`usage: npm run bench -- NAME [options]\nbenchmarks: ${names.sort().join(', ')}\n`);
  process.exit(2);
}
const module = (await import(`./${name}.ts`)) as { default: (argv: readonly string[]) => Promise<void> };
await module.default(rest);
