/** The way out: what `parseJson` read is written with the same numbers. */

/** Node has it (V8 11.4), TypeScript's library of this target does not. */
declare global {
  interface JSON {
    rawJSON(text: string): object;
  }
}

export function stringifyJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    // The only other reason is a cycle, and that fails again below.
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(value, (_key, item: unknown) =>
      typeof item === 'bigint' ? JSON.rawJSON(item.toString()) : item,
    );
  }
}
