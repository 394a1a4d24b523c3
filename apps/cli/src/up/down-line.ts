/** What to type to end all pods of a data folder. */
export function downLine(data: string | undefined): string {
  return data === undefined ? 'reeve down' : `reeve down --data ${shellWord(data)}`;
}

/** As a shell reads it back. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
