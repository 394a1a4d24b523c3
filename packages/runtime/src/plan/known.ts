/**
 * What was read, or that it could not be read. Absent is a value (`known(undefined)`, `known([])`);
 * unknown is not: no destructive command may follow from it.
 */
export type Known<T> = { readonly known: true; readonly value: T };
export type Unknown = { readonly known: false; readonly why: string };
export type Knowledge<T> = Known<T> | Unknown;

export function known<T>(value: T): Known<T> {
  return { known: true, value };
}

export function unknown(why: string): Unknown {
  return { known: false, why };
}

/** The value, or undefined when unknown: only for showing things, never for deciding to destroy. */
export function valueOf<T>(knowledge: Knowledge<T>): T | undefined {
  return knowledge.known ? knowledge.value : undefined;
}
