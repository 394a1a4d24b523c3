/** The texts that servers answer, as values. Tolerant of what newer servers add, strict about what is relied upon. */
import { rangesOf, SLOT_COUNT, type SlotRange, type SlotRanges } from '../api/slots.ts';
import type { ClusterInfo, MemoryInfo, NodeId, NodeLine, OpenSlot, ReplicationInfo, Role } from '../api/view.ts';

/** `name:value` lines of INFO and CLUSTER INFO; section titles and empty lines left out. */
export function parseInfo(text: string): Record<string, string> {
  const fields = Object.create(null) as Record<string, string>;
  for (const line of text.split('\n')) {
    const colon = line.indexOf(':');
    if (colon <= 0 || line.startsWith('#')) continue;
    fields[line.slice(0, colon)] = line.slice(colon + 1).trimEnd();
  }
  return fields;
}

export function numberOf(fields: Readonly<Record<string, string>>, name: string): number {
  const value = Number(fields[name] ?? 0);
  return Number.isFinite(value) ? value : 0;
}

/** The lines of CLUSTER NODES. For the tables of many nodes there is the `NodeTableReader`. */
export function parseClusterNodes(text: string): NodeLine[] {
  return text.split('\n').flatMap((line) => {
    const times = timesOf(line);
    return (times && parseTimeless(withoutTimes(line, times))) ?? [];
  });
}

/** The nodes to which the owner of this table has sent a ping that was not answered yet: the fifth word is when. */
export function unansweredBy(text: string): ReadonlySet<NodeId> {
  const ids = new Set<NodeId>();
  for (const line of text.split('\n')) {
    const [id, _address, _flags, _primary, pingSent] = line.split(' ', 5);
    if (id !== undefined && pingSent !== undefined && pingSent !== '0') ids.add(id);
  }
  return ids;
}

/** Where its times are: from the space before the fifth word to the space behind the sixth. */
interface Times {
  readonly from: number;
  readonly to: number;
}

/** Where its fifth and sixth word are, when ping was sent and pong received: they differ in each table. */
export function timesOf(line: string): Times | undefined {
  let at = -1;
  let from = 0;
  for (let word = 0; word < 6; word++) {
    at = line.indexOf(' ', at + 1);
    if (at < 0) return undefined;
    if (word === 3) from = at;
  }
  return { from, to: at };
}

/** All that a line says of a node. */
export function withoutTimes(line: string, { from, to }: Times): string {
  return line.slice(0, from) + line.slice(to).trimEnd();
}

interface Address {
  readonly host: string;
  readonly port: number;
  readonly busPort: number;
}

/** `host:port@busport[,hostname[,name=value]…]`. The host may be IPv6 (with colons, without brackets) or empty. */
function parseAddress(text: string): Address | undefined {
  const [address = ''] = text.split(',');
  const match = /^(.*):(\d+)(?:@(\d+))?$/.exec(address);
  if (!match) return undefined;
  const [, host = '', port, busPort] = match;
  return { host, port: Number(port), busPort: Number(busPort ?? 0) };
}

/** A line without its times: id, address, flags, primary, epoch, link state, slots. Undefined: no line of a node. */
export function parseTimeless(line: string): NodeLine | undefined {
  const [id = '', addressText = '', flagText = '', primary = '', epoch = '', link = '', ...slotTexts] = line.split(' ');
  const address = parseAddress(addressText);
  if (!address || !/^[0-9a-f]{40}$/.test(id)) return undefined;
  const flags = flagText.split(',');
  const slots: SlotRange[] = [];
  const migrating: OpenSlot[] = [];
  const importing: OpenSlot[] = [];
  for (const text of slotTexts) {
    const open = /^\[(\d+)-([<>])-([0-9a-f]{40})\]$/.exec(text);
    if (open) {
      const slot = { slot: Number(open[1]), peer: open[3] ?? '' };
      (open[2] === '>' ? migrating : importing).push(slot);
      continue;
    }
    const range = parseRange(text);
    if (range) slots.push(range);
  }
  return {
    id,
    ...address,
    flags,
    role: flags.includes('slave') || flags.includes('replica') ? 'replica' : 'primary',
    ...(primary === '-' ? {} : { primaryId: primary }),
    configEpoch: Number(epoch),
    linkUp: link === 'connected',
    slots: joined(slots),
    migrating,
    importing,
  };
}

function parseRange(text: string): SlotRange | undefined {
  const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text);
  if (!match) return undefined;
  const first = Number(match[1]);
  const last = Number(match[2] ?? match[1]);
  return first <= last && last < SLOT_COUNT ? [first, last] : undefined;
}

/** Servers list ranges in order and apart; SlotRanges promises it, so a line that does not is put in order. */
function joined(ranges: readonly SlotRange[]): SlotRanges {
  const inOrder = ranges.every(([first], index) => index === 0 || first > (ranges[index - 1] as SlotRange)[1] + 1);
  if (inOrder) return ranges;
  return rangesOf(ranges.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, n) => first + n)));
}

/** `0-10 20-30`, as atomic migrations name their slots. */
export function parseSpacedSlots(text: string): SlotRanges {
  return joined(
    text
      .split(' ')
      .map(parseRange)
      .filter((range) => range !== undefined),
  );
}

export function clusterInfoOf(fields: Readonly<Record<string, string>>): ClusterInfo {
  return {
    state: fields.cluster_state === 'ok' ? 'ok' : 'fail',
    size: numberOf(fields, 'cluster_size'),
    currentEpoch: numberOf(fields, 'cluster_current_epoch'),
  };
}

export function replicationOf(fields: Readonly<Record<string, string>>): ReplicationInfo {
  const role: Role = fields.role === 'slave' || fields.role === 'replica' ? 'replica' : 'primary';
  if (role === 'primary') return { role, offset: numberOf(fields, 'master_repl_offset') };
  return {
    role,
    linkUp: fields.master_link_status === 'up',
    syncInProgress: fields.master_sync_in_progress === '1',
    offset: numberOf(fields, 'slave_repl_offset'),
  };
}

export function memoryOf(fields: Readonly<Record<string, string>>): MemoryInfo {
  return {
    usedBytes: numberOf(fields, 'used_memory'),
    maxBytes: numberOf(fields, 'maxmemory'),
    systemBytes: numberOf(fields, 'total_system_memory'),
  };
}

/** `db0:keys=12,expires=0,…` lines of INFO. Databases without keys are not listed by servers, and not here. */
export function keyspaceOf(fields: Readonly<Record<string, string>>): Record<number, number> {
  const keyspace: Record<number, number> = {};
  for (const name in fields) {
    if (!name.startsWith('db')) continue; // of hundreds of fields, one or two
    const value = fields[name] ?? '';
    const database = /^db(\d+)$/.exec(name)?.[1];
    const keys = /(?:^|,)keys=(\d+)/.exec(value)?.[1];
    if (database !== undefined && keys !== undefined && Number(keys) > 0) keyspace[Number(database)] = Number(keys);
  }
  return keyspace;
}
