/** The rig's own reading of CLUSTER NODES: independent of the product's parser, which it judges. */

export interface NodesLine {
  readonly id: string;
  readonly host: string;
  readonly port: number;
  readonly flags: readonly string[];
  readonly role: 'primary' | 'replica';
  /** `-` for primaries. */
  readonly primaryId: string;
  readonly epoch: number;
  readonly linkUp: boolean;
  readonly myself: boolean;
  /** Owned ranges as sent, without open slots. */
  readonly slotText: string;
  readonly slots: readonly (readonly [number, number])[];
  readonly open: readonly { readonly slot: number; readonly state: 'migrating' | 'importing'; readonly peer: string }[];
}

export function parseNodes(text: string): readonly NodesLine[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(parseLine);
}

function parseLine(line: string): NodesLine {
  const [id = '', address = '', flagText = '', primaryId = '-', , , epoch = '0', link = '', ...ranges] = line
    .trim()
    .split(' ');
  const flags = flagText.split(',');
  const [hostAndPort = ''] = address.split('@');
  const colon = hostAndPort.lastIndexOf(':');
  const owned = ranges.filter((range) => !range.startsWith('['));
  return {
    id,
    host: hostAndPort.slice(0, colon),
    port: Number(hostAndPort.slice(colon + 1)),
    flags,
    role: flags.includes('slave') ? 'replica' : 'primary',
    primaryId,
    epoch: Number(epoch),
    linkUp: link === 'connected',
    myself: flags.includes('myself'),
    slotText: owned.join(' '),
    slots: owned.map((range) => {
      const [first, last = first] = range.split('-');
      return [Number(first), Number(last)] as const;
    }),
    open: ranges.flatMap((range) => {
      const match = /^\[(\d+)-([<>])-([0-9a-f]+)\]$/.exec(range);
      if (!match) return [];
      return [
        {
          slot: Number(match[1]),
          state: match[2] === '>' ? ('migrating' as const) : ('importing' as const),
          peer: match[3] as string,
        },
      ];
    }),
  };
}
