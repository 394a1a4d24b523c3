/**
 * Who believes to be a member and is known to none: all were told to forget it when it left, and it died before it was told, too. There
 * may be several, and they may know each other. Only those who have nothing: anybody else is no remnant, and a matter for a fix.
 */
import { countSlots } from '../api/slots.ts';
import type { ClusterView } from '../api/view.ts';
import { isMeeting } from './readdress.ts';
import { keyCount, knows, type ReportedNode, reported } from './topology.ts';

export function forgottenNodes(view: ClusterView): readonly ReportedNode[] {
  const nodes = reported(view);
  let forgotten = nodes.filter(isEmptyPrimary);
  // Whoever is known outside is no remnant, and neither are those who are known to it.
  for (;;) {
    const rest = nodes.filter((node) => !forgotten.includes(node));
    const left = forgotten.filter((node) =>
      rest.every((each) => !knows(view, each.id, node.id) && !isMeeting(each, node.endpoint)),
    );
    if (left.length === forgotten.length) return left.filter((node) => knowsSome(node, rest));
    forgotten = left;
  }
}

function isEmptyPrimary(node: ReportedNode): boolean {
  const { self } = node.report.value;
  return self.role === 'primary' && countSlots(self.slots) === 0 && keyCount(node) === 0;
}

/** Else it is alone, or new. */
function knowsSome({ report }: ReportedNode, rest: readonly ReportedNode[]): boolean {
  return rest.some(({ id }) => report.value.others.some((line) => line.id === id));
}
