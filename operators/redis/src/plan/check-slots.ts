/** Checks of the slots: covered, owned once, closed, the same in everybody's eyes, and without strangers' keys. */
import { valueOf } from '@reeve/runtime';
import type { Finding } from '../api/findings.ts';
import {
  ALL_SLOTS,
  countSlots,
  formatSlots,
  intersectSlots,
  minusSlots,
  rangesOf,
  SLOT_COUNT,
  type SlotRanges,
  unionSlots,
} from '../api/slots.ts';
import type { AtomicJob, ClusterView, NodeId, NodeView, OpenSlot } from '../api/view.ts';
import {
  heardSlots,
  isHandshake,
  isReported,
  members,
  nodeName,
  nodeNames,
  ownersBySlot,
  ownSlots,
  primaries,
  type ReportedNode,
  reported,
  reportedPrimaries,
  roleOf,
} from './topology.ts';

const SHOWN_RANGES = 8;

/** Slots for a message: how many, and the first ranges. */
export function describeSlots(slots: SlotRanges): string {
  const count = countSlots(slots);
  const text = formatSlots(slots.slice(0, SHOWN_RANGES)) + (slots.length > SHOWN_RANGES ? ',…' : '');
  return count === 1 ? `slot ${text}` : `${count} slots (${text})`;
}

export function checkCoverage(view: ClusterView): readonly Finding[] {
  const findings: Finding[] = [];
  let uncovered = minusSlots(ALL_SLOTS, unionSlots(...reportedPrimaries(view).map(ownSlots)));
  for (const node of primaries(view)) {
    const claimed = node.report.known ? [] : intersectSlots(heardSlots(node), uncovered);
    if (countSlots(claimed) === 0) continue;
    uncovered = minusSlots(uncovered, claimed);
    findings.push({
      code: 'SLOT_UNCOVERED',
      severity: 'broken',
      message: `${describeSlots(claimed)}: their owner ${nodeName(view, node.id)} cannot be read`,
      nodes: [node.id],
      slots: claimed,
      remedy: 'Start the owner, or fail over to a replica of it: reeve redis failover ADDRESS --node HOST:PORT',
    });
  }
  if (countSlots(uncovered) > 0) {
    findings.push({
      code: 'SLOT_UNCOVERED',
      severity: 'broken',
      message: `${describeSlots(uncovered)}: no node owns them`,
      nodes: [],
      slots: uncovered,
      remedy: 'reeve redis fix ADDRESS gives them an owner (the node that holds their keys, if there is one)',
    });
  }
  return [...findings, ...checkOwners(view)];
}

function checkOwners(view: ClusterView): readonly Finding[] {
  const claims = reportedPrimaries(view).map(ownSlots);
  const claimed = claims.reduce((sum, slots) => sum + countSlots(slots), 0);
  if (claimed === countSlots(unionSlots(...claims))) return [];
  const bySet = new Map<string, { owners: readonly NodeId[]; slots: number[] }>();
  for (const [slot, owners] of ownersBySlot(view).entries()) {
    if (owners.length < 2) continue;
    const name = owners.join(' ');
    const known = bySet.get(name);
    if (known) known.slots.push(slot);
    else bySet.set(name, { owners, slots: [slot] });
  }
  return [...bySet.values()].map(({ owners, slots }) => ({
    code: 'SLOT_MULTIPLE_OWNERS',
    severity: 'broken',
    message: `${describeSlots(rangesOf(slots))}: claimed by ${nodeNames(view, owners)}`,
    nodes: owners,
    slots: rangesOf(slots),
    remedy: 'reeve redis fix ADDRESS settles it by the keys and moves the rest there',
  }));
}

/**
 * Where the slot map of each node that is read differs from what most say, as text: the same for the same map, and nothing for most.
 * Asked of the lines, who has them, and not of the tables: nearly all have the same lines.
 */
function differences(view: ClusterView): ReadonlyMap<NodeId, string> {
  const readers = reported(view).map(({ id }) => id);
  const differing = new Map<NodeId, string>();
  for (const node of members(view)) {
    const opinions = opinionsOnSlots(node, readers);
    const [most] = [...opinions].sort((a, b) => voices(b[1]) - voices(a[1]));
    for (const [slots, by] of opinions) {
      if (slots === most?.[0]) continue;
      for (const id of by.flat()) differing.set(id, `${differing.get(id) ?? ''} ${node.id}:${slots}`);
    }
  }
  return differing;
}

type Opinions = ReadonlyMap<string, readonly (readonly NodeId[])[]>;

/** What a node owns in the eyes of all who are read, itself included. Who does not know it gives it nothing. */
function opinionsOnSlots(node: NodeView, readers: readonly NodeId[]): Opinions {
  const opinions = new Map<string, (readonly NodeId[])[]>();
  const add = (slots: SlotRanges, by: readonly NodeId[]) => {
    const text = formatSlots(slots);
    const known = opinions.get(text);
    if (known) known.push(by);
    else opinions.set(text, [by]);
  };
  if (isReported(node)) add(node.report.value.self.slots, [node.id]);
  for (const { line, by } of node.heard) if (!isHandshake(line)) add(line.slots, by);
  const told = [...opinions.values()];
  if (told.reduce((sum, by) => sum + voices(by), 0) === readers.length) return opinions;
  const telling = new Set(told.flat(2));
  add(
    [],
    readers.filter((id) => !telling.has(id)),
  );
  return opinions;
}

function voices(by: readonly (readonly NodeId[])[]): number {
  return by.reduce((sum, { length }) => sum + length, 0);
}

export function checkViews(view: ClusterView): readonly Finding[] {
  const differing = differences(view);
  const groups = [...Map.groupBy(reported(view), ({ id }) => differing.get(id) ?? '').values()];
  groups.sort((a, b) => b.length - a.length);
  const [most, ...rest] = groups;
  const pattern = most?.[0];
  if (!pattern) return [];
  const usual = slotMap(pattern);
  return rest.map((group) => {
    const seen = slotMap(group[0] as ReportedNode);
    const differing = rangesOf(
      Array.from({ length: SLOT_COUNT }, (_, slot) => slot).filter((slot) => usual[slot] !== seen[slot]),
    );
    const example = differing[0]?.[0] ?? 0;
    const name = (id: NodeId | undefined) => (id === undefined ? 'nobody' : nodeName(view, id));
    const ids = group.map((node) => node.id);
    return {
      code: 'VIEWS_DIFFER',
      severity: 'broken',
      message: `${nodeNames(view, ids, 3)} see${ids.length === 1 ? 's' : ''} other owners than ${most.length} of ${reported(view).length} nodes for ${describeSlots(differing)}: slot ${example} belongs to ${name(seen[example])}, not to ${name(usual[example])}`,
      nodes: ids,
      slots: differing,
      remedy: 'Normal for a moment while slots move or after a failover. If it stays: reeve redis fix ADDRESS',
    };
  });
}

function slotMap(node: ReportedNode): readonly (NodeId | undefined)[] {
  const owners = new Array<NodeId | undefined>(SLOT_COUNT).fill(undefined);
  const { self, others } = node.report.value;
  for (const line of [self, ...others]) for (const [first, last] of line.slots) owners.fill(line.id, first, last + 1);
  return owners;
}

export function checkOpenSlots(view: ClusterView): readonly Finding[] {
  const findings: Finding[] = [];
  for (const node of reported(view)) {
    const { self } = node.report.value;
    for (const [word, open] of [
      ['migrating to', self.migrating],
      ['importing from', self.importing],
    ] as const) {
      for (const [peer, slots] of byPeer(open)) {
        const replica =
          self.role === 'replica' ? ' (a replica: it follows its primary, or is made a replica anew)' : '';
        findings.push({
          code: 'SLOT_OPEN',
          severity: 'degraded',
          message: `${nodeName(view, node.id)} is ${word} ${nodeName(view, peer)}: ${describeSlots(slots)}${replica}`,
          nodes: [node.id, peer],
          slots,
          remedy:
            'If no reshard is running: reeve redis fix ADDRESS finishes or closes it (or --resume FILE of the reshard)',
        });
      }
    }
  }
  return findings;
}

function byPeer(open: readonly OpenSlot[]): readonly (readonly [NodeId, SlotRanges])[] {
  const groups = Map.groupBy(open, ({ peer }) => peer);
  return [...groups].map(([peer, slots]) => [peer, rangesOf(slots.map(({ slot }) => slot))]);
}

export function checkStrayKeys(view: ClusterView): readonly Finding[] {
  const findings: Finding[] = [];
  const unknown: NodeId[] = [];
  for (const node of members(view)) {
    if (roleOf(node) === 'replica') continue;
    const stray = node.report.known ? node.report.value.keysBeyondSlots : node.report;
    // Fewer than none: it counts keys of its slots that it does not count as its own.
    if (!stray.known || stray.value < 0) unknown.push(node.id);
    else if (stray.value > 0) {
      findings.push({
        code: 'KEYS_OUTSIDE_SLOT',
        severity: 'broken',
        message: `${nodeName(view, node.id)} holds ${stray.value} key${stray.value === 1 ? '' : 's'} of slots that it does not own: no client can read them`,
        nodes: [node.id],
        remedy: 'reeve redis fix ADDRESS moves them to the owners of their slots',
      });
    }
  }
  if (unknown.length > 0) {
    findings.push({
      code: 'KEYS_OUTSIDE_SLOT',
      severity: 'info',
      message: `not known whether keys lie outside their slot on ${nodeNames(view, unknown)}: not looked for`,
      nodes: unknown,
      remedy: 'reeve redis check ADDRESS --keys counts them',
    });
  }
  return findings;
}

export function checkAtomicJobs(view: ClusterView): readonly Finding[] {
  const jobs = new Map<string, AtomicJob>();
  const untold: Finding[] = [];
  for (const node of reported(view)) {
    const { atomicJobs } = node.report.value;
    if (!atomicJobs.known) {
      untold.push({
        code: 'ATOMIC_JOB',
        severity: 'info',
        message: `whether slots are moving to or from ${nodeName(view, node.id)} is not known: ${atomicJobs.why}`,
        nodes: [node.id],
        remedy: 'Permit CLUSTER GETSLOTMIGRATIONS to the user given',
      });
    }
    // Both sides list a job; it is one.
    for (const job of valueOf(atomicJobs) ?? [])
      jobs.set(`${job.sourceId} ${job.targetId} ${formatSlots(job.slots)}`, job);
  }
  const running = [...jobs.values()].map(
    (job): Finding => ({
      code: 'ATOMIC_JOB',
      severity: 'info',
      message: `${describeSlots(job.slots)} are moving from ${nodeName(view, job.sourceId)} to ${nodeName(view, job.targetId)} (${[job.state, job.message].filter((text) => text !== '').join(': ')})`,
      nodes: [job.sourceId, job.targetId],
      slots: job.slots,
      remedy: 'Wait for it; reeve redis watch ADDRESS shows it',
    }),
  );
  return [...running, ...untold];
}
