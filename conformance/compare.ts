/** Where two recordings differ, and whether somebody has explained it. */
import type { Json } from '@reeve/kube';
import type { Explanation } from './explained.ts';

export interface Difference {
  /** The number of the step, and the way to the value: `2.body.metadata.generation`. */
  readonly field: string;
  readonly real: Json | undefined;
  readonly embedded: Json | undefined;
}

export function differences(real: Json | undefined, embedded: Json | undefined, field = ''): readonly Difference[] {
  if (Object.is(real, embedded)) return [];
  if (!isContainer(real) || !isContainer(embedded) || Array.isArray(real) !== Array.isArray(embedded)) {
    return [{ field, real, embedded }];
  }
  const names = new Set([...Object.keys(real), ...Object.keys(embedded)]);
  return [...names].flatMap((name) =>
    differences(own(real, name), own(embedded, name), field === '' ? name : `${field}.${name}`),
  );
}

type Container = Json[] | { [key: string]: Json };

const isContainer = (value: Json | undefined): value is Container => typeof value === 'object' && value !== null;

const own = (container: Container, name: string): Json | undefined =>
  Object.hasOwn(container, name) ? (container as Record<string, Json>)[name] : undefined;

export interface Judged {
  readonly unexplained: readonly Difference[];
  /** The rows that were needed. */
  readonly rows: readonly Explanation[];
}

export function judged(found: readonly Difference[], rows: readonly Explanation[]): Judged {
  const used = new Set<Explanation>();
  const unexplained = found.filter(({ field }) => {
    const fitting = rows.filter((row) => fits(row.field, field));
    for (const row of fitting) used.add(row);
    return fitting.length === 0;
  });
  return { unexplained, rows: [...used] };
}

/** `*` stands for one part of the way. What lies below a field belongs to it. */
export function fits(pattern: string, field: string): boolean {
  const parts = field.split('.');
  return pattern.split('.').every((part, index) => (part === '*' ? index < parts.length : part === parts[index]));
}

export function shown({ field, real, embedded }: Difference): string {
  const text = (value: Json | undefined): string =>
    value === undefined ? '(nothing)' : JSON.stringify(value).slice(0, 2_000);
  return `  ${field}\n    real:     ${text(real)}\n    embedded: ${text(embedded)}`;
}
