/** The picture of a cluster as a table. */
import type { ClusterPicture, NodePicture } from '../redis/picture.ts';
import { clip, formatBytes, formatCount, plural } from './format.ts';
import type { Style } from './style.ts';
import { table } from './table.ts';

const SHORT_ID = 8;
const MOST_SLOTS_TEXT = 40;

function nodeRow(node: NodePicture, slots: string, keys: readonly string[]): readonly string[] {
  return [
    node.role === 'replica' ? `  ${node.address}` : node.address,
    node.id.slice(0, SHORT_ID),
    node.role,
    slots,
    node.keys === null ? '?' : formatCount(node.keys),
    node.usedBytes === null ? '?' : formatBytes(node.usedBytes),
    node.state,
    ...keys.map((key) => node.annotations[key] ?? ''),
  ];
}

/** Annotations worth a column: those that somebody gave, not the host that repeats the address. */
function annotationKeys(nodes: readonly NodePicture[]): readonly string[] {
  const given = nodes.flatMap(({ annotations, address }) =>
    Object.entries(annotations)
      .filter(([key, value]) => key !== 'host' || !address.startsWith(`${value}:`))
      .map(([key]) => key),
  );
  return [...new Set(given)].sort();
}

export function pictureLines(picture: ClusterPicture, style: Style): readonly string[] {
  const { shards, others, silent, state } = picture;
  const nodes = [...shards.flatMap(({ primary, replicas }) => [primary, ...replicas]), ...others];
  const keys = annotationKeys(nodes);
  const rows = [
    ...shards.flatMap(({ primary, replicas, slots, slotCount }) => [
      nodeRow(primary, slotCount === 0 ? 'none' : `${clip(slots, MOST_SLOTS_TEXT)} (${slotCount})`, keys),
      ...replicas.map((replica) => nodeRow(replica, '', keys)),
    ]),
    ...others.map((node) => nodeRow(node, '', keys)),
  ];
  const paint = state === 'ok' ? style.green : style.red;
  const [head = '', ...body] = table(
    [
      { title: 'ADDRESS' },
      { title: 'ID' },
      { title: 'ROLE' },
      { title: 'SLOTS' },
      { title: 'KEYS', right: true },
      { title: 'MEMORY', right: true },
      { title: 'STATE' },
      ...keys.map((key) => ({ title: key.toUpperCase() })),
    ],
    rows,
  );
  return [
    `${picture.servers.join(', ') || 'no server'}: ${paint(`cluster_state ${state}`)}, ${formatCount(picture.slotsCovered)} of 16,384 slots, ` +
      `${plural(shards.length, 'primary', 'primaries')}, ${plural(nodes.filter(({ role }) => role === 'replica').length, 'replica')}, ` +
      `${plural(picture.keys, 'key')}, epoch ${picture.currentEpoch}`,
    '',
    style.bold(head),
    ...body,
    ...silent.map(({ address, why }) => style.red(`${address} does not answer: ${why}`)),
  ];
}
