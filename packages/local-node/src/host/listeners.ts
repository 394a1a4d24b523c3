/** Sockets that listen, as `/proc/net/tcp` and `/proc/net/tcp6` list them. Pure. */
export interface Listener {
  readonly port: number;
  /** On every address of the machine. */
  readonly isWildcard: boolean;
  /** Names the socket: the process that has it open has a link with this number. */
  readonly inode: string;
}

const LISTENING = '0A';

export function parseListeners(text: string): readonly Listener[] {
  const listeners: Listener[] = [];
  for (const line of text.split('\n').slice(1)) {
    const [, local, , state, , , , , , inode] = line.trim().split(/\s+/);
    if (state !== LISTENING || local === undefined || inode === undefined) continue;
    const [address = '', port = ''] = local.split(':');
    listeners.push({ port: Number.parseInt(port, 16), isWildcard: isWildcard(address), inode });
  }
  return listeners;
}

/** All zeros, also where an IPv6 socket stands for IPv4: `::ffff:0.0.0.0`. */
function isWildcard(address: string): boolean {
  return /^0+$/.test(address) || address === '0000000000000000FFFF000000000000';
}
