/** An error as people read it: what, its code, what to do. */
import { asReeveError } from '@reeve/runtime';
import { remedyOf } from '../errors.ts';
import type { Io } from '../io.ts';
import { styleFor } from './style.ts';

/** @param advice instead of the remedy of its code. */
export async function reportError(io: Io, error: unknown, advice?: string): Promise<void> {
  const known = asReeveError(error);
  // A bug of ours is reported with where it happened; anything else is told in one line.
  const trace = known.code === 'INTERNAL' && error instanceof Error ? `\n${error.stack ?? ''}` : '';
  const style = styleFor(io.errIsTerminal, io.env);
  io.err(`${style.red(`reeve: ${known.message}`)} [${known.code}]${trace}\n`);
  const remedy = advice ?? remedyOf(known.code) ?? (await remedyElsewhere(known.code));
  if (remedy !== undefined) io.err(`    → ${remedy}\n`);
}

/** Of packages that most commands do without: whoever raised it has loaded them. */
async function remedyElsewhere(code: string): Promise<string | undefined> {
  const catalog: Readonly<Record<string, { readonly remedy: string }>> = code.startsWith('KUBE')
    ? (await import('@reeve/kube')).kubeErrors
    : code.startsWith('EMBEDDED_')
      ? (await import('@reeve/embedded')).embeddedErrors
      : /^(?:NODE|VOLUME)_/.test(code)
        ? (await import('@reeve/local-node')).localNodeErrors
        : {};
  return Object.hasOwn(catalog, code) ? catalog[code]?.remedy : undefined;
}
