/** A cluster as a table: a line for each node, replicas below their primary. */
import { countSlots, formatSlots, type SlotRanges } from '../api/slots.ts';
import { type ClusterView, formatEndpoint, type NodeView } from '../api/view.ts';
import {
  flaggedBy,
  isReported,
  keyCount,
  likelySlots,
  members,
  primaries,
  primaryIdOf,
  replicasOf,
  roleOf,
  shortId,
} from './topology.ts';

const SHOWN_RANGES = 3;

export function printView(view: ClusterView): string {
  const inOrder: NodeView[] = [];
  for (const primary of [...primaries(view)].sort(byFirstSlot)) inOrder.push(primary, ...replicasOf(view, primary.id));
  // Replicas of primaries that nobody knows, so that no node is left out.
  for (const node of members(view)) if (!inOrder.includes(node)) inOrder.push(node);
  const keys = annotationKeys(inOrder);
  const head = [
    'ID',
    'ADDRESS',
    'ROLE',
    'SLOTS',
    'REPLICA OF',
    'LINK',
    'KEYS',
    'MEMORY',
    ...keys.map((key) => key.toUpperCase()),
    'FLAGS',
  ];
  const rows = inOrder.map((node) => rowOf(node, keys));
  const silent = view.silent.map(({ endpoint, why }) => `${formatEndpoint(endpoint)} does not answer: ${why}`);
  return [...table([head, ...rows]), ...silent].join('\n');
}

function rowOf(node: NodeView, keys: readonly string[]): readonly string[] {
  const primaryId = primaryIdOf(node);
  const memory = isReported(node) ? bytesText(node.report.value.memory.usedBytes) : '?';
  return [
    shortId(node.id),
    formatEndpoint(node.endpoint),
    roleOf(node) ?? '?',
    roleOf(node) === 'primary' ? slotsText(likelySlots(node)) : '',
    primaryId === undefined ? '' : shortId(primaryId),
    linkText(node),
    String(keyCount(node) ?? '?'),
    memory,
    ...keys.map((key) => node.annotations[key] ?? '?'),
    flagsText(node),
  ];
}

function linkText(node: NodeView): string {
  if (roleOf(node) !== 'replica') return '';
  if (!isReported(node)) return '?';
  const { linkUp, syncInProgress } = node.report.value.replication;
  return syncInProgress ? 'syncing' : linkUp ? 'up' : 'down';
}

function flagsText(node: NodeView): string {
  const flags = isReported(node) ? [] : ['unreachable'];
  for (const flag of ['fail', 'fail?', 'noaddr', 'nofailover']) if (flaggedBy(node, flag).length > 0) flags.push(flag);
  if (isReported(node)) {
    const { migrating, importing } = node.report.value.self;
    if (migrating.length > 0) flags.push(`migrating ${migrating.length}`);
    if (importing.length > 0) flags.push(`importing ${importing.length}`);
  }
  return flags.join(' ');
}

/** Host first (it says nothing where it only repeats the address), then the others by name. */
function annotationKeys(nodes: readonly NodeView[]): readonly string[] {
  const given = new Set(nodes.flatMap((node) => Object.keys(node.annotations)));
  if (nodes.every((node) => (node.annotations.host ?? node.endpoint.host) === node.endpoint.host)) given.delete('host');
  return [...given].sort((a, b) => Number(b === 'host') - Number(a === 'host') || (a < b ? -1 : 1));
}

function byFirstSlot(a: NodeView, b: NodeView): number {
  const first = (node: NodeView) => likelySlots(node)[0]?.[0] ?? Number.POSITIVE_INFINITY;
  const [firstA, firstB] = [first(a), first(b)];
  if (firstA !== firstB) return firstA - firstB;
  return a.id < b.id ? -1 : 1;
}

function slotsText(slots: SlotRanges): string {
  if (slots.length === 0) return '0';
  const shown = formatSlots(slots.slice(0, SHOWN_RANGES));
  return `${countSlots(slots)}: ${shown}${slots.length > SHOWN_RANGES ? ',…' : ''}`;
}

function bytesText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
