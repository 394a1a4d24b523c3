/** Check of the placement: what the loss of one host or zone would take with it. */
import type { Finding } from '../api/findings.ts';
import type { ClusterView, NodeView } from '../api/view.ts';
import { placeNodes } from './placement.ts';
import { domainOf, type Placed, type PlacementProblem, placementProblems } from './placement-score.ts';
import { members, nodeNames, primaryIdOf, roleOf } from './topology.ts';

/** The nodes of a view as the placement sees them. */
export function placedMembers(view: ClusterView): readonly Placed[] {
  return members(view).map((node: NodeView): Placed => {
    const primaryId = primaryIdOf(node);
    const role = roleOf(node) ?? 'primary';
    return { id: node.id, annotations: node.annotations, role, ...(primaryId === undefined ? {} : { primaryId }) };
  });
}

export function checkPlacement(view: ClusterView, spreadBy: readonly string[]): readonly Finding[] {
  const placed = placedMembers(view);
  const findings: Finding[] = [];
  const useful: string[] = [];
  for (const key of new Set(spreadBy)) {
    const without = placed.filter((member) => member.annotations[key] === undefined).map((member) => member.id);
    const domains = new Set(placed.map((member) => domainOf(member, key)));
    if (without.length > 0) {
      findings.push({
        code: 'PLACEMENT',
        severity: 'info',
        message: `the ${key} of ${nodeNames(view, without)} is not known: counted as one ${key}`,
        nodes: without,
        remedy: `Name it: --annotate HOST=${key}=VALUE`,
      });
    } else if (domains.size === 1 && placed.length > 1) {
      const [only] = domains;
      findings.push({
        code: 'PLACEMENT',
        severity: 'info',
        message: `all nodes are on one ${key} (${only}): its loss is the loss of the cluster`,
        nodes: [],
        remedy: `Nothing, if that is meant. Else add nodes on another ${key}.`,
      });
    }
    if (domains.size > 1) useful.push(key);
  }
  const problems = placementProblems(placed, useful);
  return problems.length === 0 ? findings : [...findings, ...judge(view, placed, useful, problems)];
}

/** Only what could be better is a flaw of the cluster; what these nodes do not allow is worth knowing, not more. */
function judge(
  view: ClusterView,
  placed: readonly Placed[],
  spreadBy: readonly string[],
  problems: readonly PlacementProblem[],
): readonly Finding[] {
  const count = placed.filter((member) => member.role === 'primary').length;
  const best = placementProblems(placeNodes(placed, count, spreadBy), spreadBy);
  const tally = (list: readonly PlacementProblem[], { kind, key }: PlacementProblem) =>
    list.filter((problem) => problem.kind === kind && problem.key === key).length;
  return problems.map((problem) => {
    const avoidable = tally(problems, problem) > tally(best, problem);
    const grave = problem.kind === 'shared' || problem.kind === 'majority';
    return {
      code: 'PLACEMENT',
      severity: grave && avoidable ? 'degraded' : 'info',
      message: describe(view, problem),
      nodes: problem.nodes,
      remedy: remedyFor(problem, avoidable),
    };
  });
}

function describe(view: ClusterView, { kind, key, domain, nodes }: PlacementProblem): string {
  const where = domain === '' ? `an unknown ${key}` : `${key} ${domain}`;
  const [first, ...rest] = nodes;
  switch (kind) {
    case 'shared':
      return `${nodeNames(view, first === undefined ? [] : [first])} and its replica${rest.length === 1 ? '' : 's'} ${nodeNames(view, rest)} share ${where}`;
    case 'replicas':
      return `replicas of one primary share ${where}: ${nodeNames(view, nodes)}`;
    case 'majority':
      return `${where} holds ${nodes.length} primaries, more than half: its loss stops the cluster`;
    case 'uneven':
      return `${where} holds ${nodes.length} primar${nodes.length === 1 ? 'y' : 'ies'}, not an even share`;
  }
}

function remedyFor({ kind, key }: PlacementProblem, avoidable: boolean): string {
  if (!avoidable) return `These nodes allow nothing better; more on other ${key}s would.`;
  return kind === 'shared' || kind === 'replicas'
    ? `Add a replica on another ${key} (reeve redis add-node ADDRESS --node HOST:PORT --replica), then take the old one out`
    : 'reeve redis failover ADDRESS --spread makes other replicas primaries';
}
