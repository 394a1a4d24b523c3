/** Sockets that listen, as `/proc/net/tcp`, `/proc/net/udp` and their kin of IPv6 list them. Pure. */
export interface Listener {
  readonly protocol: 'tcp' | 'udp';
  readonly port: number;
  /** On every address of the machine. */
  readonly isWildcard: boolean;
  /** Names the socket: the process that has it open has a link with this number. */
  readonly inode: string;
}

const LISTENING = '0A';
/** Of datagrams: bound, and to nobody in particular. */
const UNCONNECTED = '07';

/** Ports that the kernel gives to who names none. */
export interface PortRange {
  readonly first: number;
  readonly last: number;
}

export function parseListeners(text: string): readonly Listener[] {
  return parseSockets(text, 'tcp', LISTENING);
}

/**
 * Who sends datagrams without a word about where from has a socket that looks just like a server's: on all addresses, for as long as it
 * likes (statistics, names, time). Only its port was given by the kernel. So ports of that range are nobody's service here.
 */
export function parseDatagramListeners(text: string, { first, last }: PortRange): readonly Listener[] {
  return parseSockets(text, 'udp', UNCONNECTED).filter(({ port }) => port < first || port > last);
}

function parseSockets(text: string, protocol: Listener['protocol'], wanted: string): readonly Listener[] {
  const listeners: Listener[] = [];
  for (const line of text.split('\n').slice(1)) {
    const [, local, , state, , , , , , inode] = line.trim().split(/\s+/);
    if (state !== wanted || local === undefined || inode === undefined) continue;
    const [address = '', port = ''] = local.split(':');
    listeners.push({ protocol, port: Number.parseInt(port, 16), isWildcard: isWildcard(address), inode });
  }
  return listeners;
}

/** As `ip_local_port_range` has it. */
export function parsePortRange(text: string): PortRange {
  const [first = Number.NaN, last = Number.NaN] = text.trim().split(/\s+/).map(Number);
  return { first, last };
}

/** All zeros, also where an IPv6 socket stands for IPv4: `::ffff:0.0.0.0`. */
function isWildcard(address: string): boolean {
  return /^0+$/.test(address) || address === '0000000000000000FFFF000000000000';
}
