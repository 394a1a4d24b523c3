import { shellWord } from '../output/shell-word.ts';

/** What to type to end all pods of a data folder. */
export function downLine(data: string | undefined): string {
  return data === undefined ? 'reeve down' : `reeve down --data ${shellWord(data)}`;
}
