/** The query of a write, checked as the server checks it. */
import type { WriteOptions } from '../rest/context.ts';
import { type FieldError, invalid, notSupported, tooLong } from '../status/field-error.ts';
import { invalidOptions } from '../status/refusal.ts';

const MOST_MANAGER = 128;
const VALIDATIONS = ['', 'Ignore', 'Strict', 'Warn'];

export function readWriteOptions(
  query: URLSearchParams,
  userAgent: string | undefined,
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
): WriteOptions {
  const manager = query.get('fieldManager') ?? '';
  const dryRun = query.getAll('dryRun').filter((one) => one !== '');
  const validation = query.get('fieldValidation') ?? '';
  const errors: FieldError[] = [];
  if (Buffer.byteLength(manager) > MOST_MANAGER) errors.push(tooLong('fieldManager', MOST_MANAGER));
  const unprintable = /\p{C}/u.exec(manager);
  if (unprintable) {
    const code = (unprintable[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    const detail = `invalid character U+${code} (at position ${unprintable.index})`;
    errors.push(invalid('fieldManager', manager, detail));
  }
  if (dryRun.some((one) => one !== 'All')) errors.push(notSupported('dryRun', dryRun, ['All']));
  if (!VALIDATIONS.includes(validation)) errors.push(notSupported('fieldValidation', validation, VALIDATIONS));
  if (errors.length > 0) throw invalidOptions(kind, errors);
  return {
    dryRun: dryRun.length > 0,
    fieldManager: manager === '' ? managerOf(userAgent) : manager,
    fieldValidation: (validation === '' ? 'Warn' : validation) as WriteOptions['fieldValidation'],
  };
}

/** The program's name at the beginning of its user agent, cut to what a manager may be. */
function managerOf(userAgent: string | undefined): string {
  const name = (userAgent ?? '').split('/', 1)[0] ?? '';
  return name.replace(/\p{C}/gu, '').slice(0, MOST_MANAGER) || 'unknown';
}
