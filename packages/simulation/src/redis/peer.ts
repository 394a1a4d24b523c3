/** One entry of a server's node table: what this server thinks of another node, or of itself. */
export interface Peer {
  /** Changes once for a node met by address only: its true id is learned at the end of the handshake. */
  id: string;
  host: string;
  port: number;
  busPort: number;
  /** Undefined until the handshake ended (the servers print `handshake` alone, or `noflags`). */
  role: 'primary' | 'replica' | undefined;
  /** Of a replica: its primary's entry in the same table, when known. */
  primary: Peer | undefined;
  failing: 'no' | 'suspected' | 'failed';
  handshake: boolean;
  /** The first packet must be a MEET, so that the other side lets us in. */
  meet: boolean;
  noAddress: boolean;
  configEpoch: number;
  shardId: string;
  slotCount: number;
  /** Number under which the owner table of this server names the node. Never reused. */
  readonly mark: number;
  readonly createdAt: number;
  pingSentAt: number;
  pongReceivedAt: number;
  failedAt: number;
  votedAt: number;
  /** Our link to it (the servers print connected/disconnected). */
  linked: boolean;
  offset: number;
  /** Who told us that it fails, and when. */
  readonly reports: Map<Peer, number>;
  /** The versions of both tables when its last packet was processed: equal ones carry nothing new. */
  seenTheirs: number;
  seenOurs: number;
}

export interface PeerSeed {
  readonly id: string;
  readonly host: string;
  readonly port: number;
  readonly busPort: number;
  readonly role?: 'primary' | 'replica' | undefined;
  readonly handshake?: boolean;
  readonly meet?: boolean;
  readonly shardId?: string;
}

export function createPeer(seed: PeerSeed, mark: number, now: number): Peer {
  return {
    id: seed.id,
    host: seed.host,
    port: seed.port,
    busPort: seed.busPort,
    role: seed.role,
    primary: undefined,
    failing: 'no',
    handshake: seed.handshake ?? false,
    meet: seed.meet ?? false,
    noAddress: false,
    configEpoch: 0,
    shardId: seed.shardId ?? '',
    slotCount: 0,
    mark,
    createdAt: now,
    pingSentAt: 0,
    pongReceivedAt: 0,
    failedAt: 0,
    votedAt: 0,
    linked: false,
    offset: 0,
    reports: new Map(),
    seenTheirs: -1,
    seenOurs: -1,
  };
}

/** The flags column of CLUSTER NODES. */
export function flagsOf(peer: Peer, isMyself: boolean): string {
  const flags: string[] = [];
  if (isMyself) flags.push('myself');
  if (peer.role === 'primary') flags.push('master');
  if (peer.role === 'replica') flags.push('slave');
  if (peer.failing === 'suspected') flags.push('fail?');
  if (peer.failing === 'failed') flags.push('fail');
  if (peer.handshake) flags.push('handshake');
  if (peer.noAddress) flags.push('noaddr');
  return flags.length > 0 ? flags.join(',') : 'noflags';
}
