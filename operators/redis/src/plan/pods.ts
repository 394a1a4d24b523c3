/** The pods (or external members) of a cluster, and which node lives in which: joined by the address at which a node was read in this very observation. Pure. */
import { type ClusterView, type Endpoint, formatEndpoint } from '../api/view.ts';
import { CLIENT_PORT } from './children.ts';
import type { ContainerLife, PodTrouble } from './pod-trouble.ts';
import { type ReportedNode, reported } from './topology.ts';

export interface PodFacts {
  readonly name: string;
  readonly uid: string;
  readonly ordinal: number;
  readonly ip?: string;
  /** Where its server listens, if not where those of our own pods do. */
  readonly port?: number;
  readonly isReady: boolean;
  readonly isDeleting: boolean;
  /** Made from what is asked for now. */
  readonly isCurrent: boolean;
  /** Of its server. */
  readonly image?: string;
  /** Of its server, as Kubernetes tells it. Undefined: nobody says. */
  readonly server?: ContainerLife;
  /** Its server is ready, whatever other containers are. Undefined: nobody says. */
  readonly isServing?: boolean;
  /** Why it does not come up, or not wholly. */
  readonly trouble?: PodTrouble;
  /** Of its worker node: zone, host. */
  readonly annotations: Readonly<Record<string, string>>;
}

export interface PodMember extends PodFacts {
  /** Who answered there, if anybody did. */
  readonly node?: ReportedNode;
}

export function endpointOf({ ip, port = CLIENT_PORT }: Pick<PodFacts, 'ip' | 'port'>): Endpoint | undefined {
  return ip === undefined ? undefined : { host: ip, port };
}

/** `web-12` → 12. Undefined: not a name that a StatefulSet gives. */
export function ordinalOf(set: string, pod: string): number | undefined {
  const digits = pod.startsWith(`${set}-`) ? pod.slice(set.length + 1) : '';
  return /^(0|[1-9][0-9]*)$/.test(digits) ? Number(digits) : undefined;
}

export function podMembers(pods: readonly PodFacts[], view: ClusterView): readonly PodMember[] {
  const nodes = new Map(reported(view).map((node) => [formatEndpoint(node.endpoint), node]));
  return [...pods]
    .sort((a, b) => a.ordinal - b.ordinal)
    .map((pod) => {
      const endpoint = endpointOf(pod);
      const node = endpoint && nodes.get(formatEndpoint(endpoint));
      return node ? { ...pod, node } : pod;
    });
}
