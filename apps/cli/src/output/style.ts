/** Colours, where they help and are wanted: never without a terminal, never with NO_COLOR. */
export interface Style {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly green: (text: string) => string;
}

const paint = (on: number, off: number) => (text: string) => `\u001b[${on}m${text}\u001b[${off}m`;
const plain = (text: string): string => text;

export function styleFor(isTerminal: boolean, env: Readonly<Record<string, string | undefined>>): Style {
  if (!isTerminal || (env.NO_COLOR ?? '') !== '' || env.TERM === 'dumb') {
    return { bold: plain, dim: plain, red: plain, yellow: plain, green: plain };
  }
  return { bold: paint(1, 22), dim: paint(2, 22), red: paint(31, 39), yellow: paint(33, 39), green: paint(32, 39) };
}
