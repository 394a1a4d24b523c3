/**
 * Makes one cluster of new servers. The goal says for each node its role, slots, primary and epoch; every turn looks
 * how far the nodes are and does what comes next, so that a crash at any point costs nothing.
 * Nothing is ever flushed: what is not empty or belongs to somebody is refused.
 */
import { isReached, type Refusal } from '@reeve/runtime';
import type { Decision, Operation } from '../api/operation.ts';
import { formatSlots } from '../api/slots.ts';
import { type ClusterView, type Endpoint, formatEndpoint } from '../api/view.ts';
import type { CreateGoal, CreateMember } from './create-goal.ts';
import { judgeEmpty, judgeFamily, judgeServer, judgeSlots, judgeStrangers, locate } from './create-nodes.ts';
import { conflictsOf, planCreate } from './create-plan.ts';
import { evenSlots } from './create-slots.ts';
import { placeNodes } from './placement.ts';
import { type Placed, placementProblems } from './placement-score.ts';
import { type ReportedNode, refName } from './topology.ts';

export type { CreateGoal } from './create-goal.ts';

export interface CreateRequest {
  readonly endpoints: readonly Endpoint[];
  readonly replicasPerPrimary: number;
  /** Default: as many as the nodes allow with that many replicas each. */
  readonly primaries?: number;
  /** Placement keys in order of weight: ['zone', 'host']. */
  readonly spreadBy: readonly string[];
  /** How long creation may take before it is given up. Default: a minute and what the number of nodes and their timeouts suggest. */
  readonly limitMs?: number;
}

const FEWEST_PRIMARIES = 3;
const USUAL_NODE_TIMEOUT_MS = 15_000;

export const createOperation: Operation<CreateRequest, CreateGoal> = {
  kind: 'create',
  needs: (request) => ({ alsoAsk: request.endpoints }),
  decide,
  goalNeeds: (goal) => ({ alsoAsk: goal.members.map((member) => member.endpoint) }),
  plan: planCreate,
};

function decide(request: CreateRequest, view: ClusterView): Decision<CreateGoal> {
  const impossible = [...judgeAddresses(request.endpoints), ...judgeNumbers(request)];
  if (impossible.length > 0) return { refused: impossible };

  const located = request.endpoints.map((endpoint) => locate(view, endpoint));
  const silent = located.flatMap((each) => ('refused' in each ? [each.refused] : []));
  if (silent.length > 0) return { refused: silent };
  const nodes = located.flatMap((each) => ('node' in each ? [each.node] : []));

  const unfit = [...nodes.flatMap(judgeServer), ...judgeFamily(nodes)];
  if (unfit.length > 0) return { refused: unfit };

  const placed = placeNodes(nodes, primaryCount(request), request.spreadBy);
  const goal = goalOf(request, view, nodes, placed);
  const plan = planCreate(goal, view, view.observedAt, []);
  const reasons = reasonsFor(request, nodes, placed);
  if (isReached(plan)) return { goal, steps: [], reasons, nothingToDo: true };

  const own = new Set(nodes.map((node) => node.id));
  const taken = nodes.flatMap((node) => [...judgeStrangers(view, node, own), ...judgeEmpty(node)]);
  const conflicts = conflictsOf(goal, view);
  // Nodes of this very list that know each other or own slots may be an unfinished create of the same goal: it goes on.
  // If they do not fit the goal they are somebody's cluster.
  const refused = taken.length > 0 ? taken : conflicts.length > 0 ? foreign(goal, nodes, conflicts) : [];
  if (refused.length > 0) return { refused };

  const begun = nodes.filter(({ report: { value } }) => value.others.length > 0 || value.self.slots.length > 0);
  return {
    goal,
    steps: stepsOf(goal),
    reasons:
      begun.length === 0
        ? reasons
        : [
            ...reasons,
            `${begun.length} of ${nodes.length} nodes are set up in part as this plan wants it: an unfinished create goes on`,
          ],
  };
}

function judgeAddresses(endpoints: readonly Endpoint[]): readonly Refusal[] {
  const refused: Refusal[] = [];
  const addresses = endpoints.map(formatEndpoint);
  const twice = [...new Set(addresses.filter((address, index) => addresses.indexOf(address) !== index))];
  if (twice.length > 0) {
    refused.push({ code: 'ENDPOINT_TWICE', message: `given more than once: ${twice.join(', ')}`, subjects: twice });
  }
  const named = endpoints.filter(({ host }) => !isIpAddress(host)).map(formatEndpoint);
  if (named.length > 0) {
    const message = `nodes introduce themselves by IP address, and these are names: ${named.join(', ')}`;
    refused.push({ code: 'ADDRESS_NOT_IP', message, subjects: named });
  }
  const loopback = endpoints.filter(({ host }) => host.startsWith('127.') || host === '::1').map(formatEndpoint);
  if (loopback.length > 0 && loopback.length < endpoints.length) {
    const message = `${loopback.join(', ')}: an address that means another machine everywhere else, so the other nodes cannot reach it`;
    refused.push({ code: 'ADDRESS_LOOPBACK', message, subjects: loopback });
  }
  return refused;
}

function isIpAddress(host: string): boolean {
  return host.includes(':') || /^\d{1,3}(\.\d{1,3}){3}$/.test(host);
}

function primaryCount(request: CreateRequest): number {
  return request.primaries ?? Math.floor(request.endpoints.length / (request.replicasPerPrimary + 1));
}

function judgeNumbers(request: CreateRequest): readonly Refusal[] {
  const { replicasPerPrimary, endpoints } = request;
  const count = primaryCount(request);
  const refused: Refusal[] = [];
  const addresses = endpoints.map(formatEndpoint);
  if (count < FEWEST_PRIMARIES) {
    const needed = FEWEST_PRIMARIES * (replicasPerPrimary + 1);
    refused.push({
      code: 'TOO_FEW_PRIMARIES',
      message: `a cluster needs at least ${FEWEST_PRIMARIES} primaries to agree on anything; ${endpoints.length} nodes with ${replicasPerPrimary} replicas each make ${count} (${needed} nodes would do)`,
      subjects: addresses,
    });
  } else if (count * (replicasPerPrimary + 1) > endpoints.length) {
    refused.push({
      code: 'TOO_FEW_NODES',
      message: `${count} primaries with ${replicasPerPrimary} replicas each need ${count * (replicasPerPrimary + 1)} nodes; ${endpoints.length} were given`,
      subjects: addresses,
    });
  }
  return refused;
}

function goalOf(
  request: CreateRequest,
  view: ClusterView,
  nodes: readonly ReportedNode[],
  placed: readonly Placed[],
): CreateGoal {
  const slots = evenSlots(primaryCount(request));
  const inOrder = [
    ...placed.filter((member) => member.role === 'primary'),
    ...placed.filter((member) => member.role === 'replica'),
  ];
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const members = inOrder.map((member, index): CreateMember => {
    const node = byId.get(member.id) as ReportedNode;
    const share = slots[index];
    return {
      id: node.id,
      endpoint: node.endpoint,
      busPort: node.report.value.self.busPort,
      role: member.role,
      ...(member.role === 'primary' && share ? { slots: formatSlots([share]) } : {}),
      ...(member.primaryId === undefined ? {} : { primaryId: member.primaryId }),
      epoch: index + 1,
    };
  });
  const timeouts = nodes.map(({ report: { value } }) =>
    value.server.nodeTimeoutMs.known ? value.server.nodeTimeoutMs.value : USUAL_NODE_TIMEOUT_MS,
  );
  return {
    members,
    replicasPerPrimary: request.replicasPerPrimary,
    spreadBy: request.spreadBy,
    startedAt: view.observedAt,
    // A lost handshake is noticed after a node timeout: room for some of them.
    limitMs: request.limitMs ?? 60_000 + 2_000 * nodes.length + 4 * Math.max(...timeouts),
  };
}

/** The nodes are in some cluster of their own that is not the one asked for. */
function foreign(goal: CreateGoal, nodes: readonly ReportedNode[], conflicts: readonly Refusal[]): readonly Refusal[] {
  const alone = nodes.filter((node) => node.report.value.others.length === 0);
  const slots = alone.flatMap((node) =>
    conflicts.some(({ subjects }) => subjects.includes(node.id)) ? judgeSlots(node) : [],
  );
  if (slots.length > 0) return slots;
  return conflicts.map((conflict) => ({
    ...conflict,
    code: 'NODE_OF_OTHER_CLUSTER',
    message: `these ${goal.members.length} nodes are in a cluster already that is not the one asked for: ${conflict.message}`,
  }));
}

function stepsOf(goal: CreateGoal): readonly string[] {
  const named = new Map(goal.members.map((member) => [member.id, refName(member)]));
  const last = goal.members.length;
  return [
    ...goal.members
      .filter((member) => member.slots !== undefined)
      .map((member) => `${named.get(member.id)} becomes a primary with slots ${member.slots}`),
    `every node gets a config epoch of its own (1 to ${last}), read back`,
    `all ${last} nodes are introduced to each other, and it is waited until each knows each`,
    ...goal.members
      .filter((member) => member.primaryId !== undefined)
      .map((member) => `${named.get(member.id)} becomes a replica of ${named.get(member.primaryId ?? '')}`),
    'it is waited until replicas are in sync and all nodes agree; then the cluster is checked',
  ];
}

function reasonsFor(
  request: CreateRequest,
  nodes: readonly ReportedNode[],
  placed: readonly Placed[],
): readonly string[] {
  const count = primaryCount(request);
  const spare = nodes.length - count * (request.replicasPerPrimary + 1);
  const reasons = [
    `${nodes.length} nodes with ${request.replicasPerPrimary} replicas for each primary: ${count} primaries, slots as even as they divide`,
  ];
  if (spare > 0) reasons.push(`${spare} nodes are left over: they are more replicas, one each`);
  const versions = new Set(nodes.map(({ report: { value } }) => value.server.version));
  if (versions.size > 1) {
    reasons.push(
      `versions differ (${[...versions].sort().join(', ')}): a replica older than its primary may not understand it`,
    );
  }
  if (request.spreadBy.length === 0) return reasons;
  const problems = placementProblems(placed, request.spreadBy);
  const keys = request.spreadBy.join(', then ');
  if (problems.length === 0) return [...reasons, `spread by ${keys}: no two copies share one, primaries are even`];
  const worst = problems.filter((problem) => problem.kind === 'shared');
  const said = [
    ...new Set(worst.map((problem) => `${problem.key} ${problem.domain === '' ? '(not known)' : problem.domain}`)),
  ];
  reasons.push(
    worst.length === 0
      ? `spread by ${keys}: no replica shares one with its primary; primaries cannot be even with these nodes`
      : `spread by ${keys}: these nodes do not allow to keep replicas apart from their primaries everywhere (${said.slice(0, 5).join(', ')})`,
  );
  return reasons;
}
