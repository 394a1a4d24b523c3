/** Objects of a control plane as proofs read them, and what it tells of them. */
import { type KubeClient, type KubeObject, resource, type Stored } from '@reeve/kube';
import { until } from '@reeve/rig';

interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly terminated?: { readonly exitCode: number; readonly reason?: string };
}

export interface ContainerOnSite {
  readonly name: string;
  readonly restartCount: number;
  readonly containerID?: string;
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
}

interface SitePod extends KubeObject {
  readonly spec?: {
    readonly nodeName?: string;
    readonly containers?: readonly { readonly name: string; readonly image?: string }[];
    readonly [field: string]: unknown;
  };
  readonly status?: {
    readonly podIP?: string;
    readonly phase?: string;
    readonly containerStatuses?: readonly ContainerOnSite[];
  };
}

export type PodOnSite = Stored<SitePod>;

interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

interface Event extends KubeObject {
  readonly eventTime?: string;
  readonly regarding?: { readonly name?: string };
  readonly reason?: string;
  readonly note?: string;
}

export const NAMESPACE = 'default';

const core = { group: '', version: 'v1', namespaced: true } as const;
export const pods = resource<SitePod>({ ...core, plural: 'pods', kind: 'Pod' });
export const secrets = resource<Secret>({ ...core, plural: 'secrets', kind: 'Secret' });
export const configMaps = resource<KubeObject>({ ...core, plural: 'configmaps', kind: 'ConfigMap' });
export const workerNodes = resource<KubeObject>({ ...core, plural: 'nodes', kind: 'Node', namespaced: false });
const events = resource<Event>({
  group: 'events.k8s.io',
  version: 'v1',
  plural: 'events',
  kind: 'Event',
  namespaced: true,
});

/** All that was told of an object, in its order. */
export async function storyOf(client: KubeClient, name: string): Promise<readonly string[]> {
  const { items } = await client.resource(events, NAMESPACE).list();
  return items
    .filter(({ regarding }) => regarding?.name === name)
    .map(({ eventTime, metadata, reason, note }) => `${eventTime ?? metadata.creationTimestamp} ${reason}: ${note}`)
    .sort();
}

/** What an event of this reason says of an object, as people read it. */
export async function toldOf(client: KubeClient, name: string, reason: string, timeoutMs: number): Promise<string> {
  return until(
    `${reason} is told of ${name}`,
    async () => {
      const { items } = await client.resource(events, NAMESPACE).list();
      const found = items.find((event) => event.regarding?.name === name && event.reason === reason);
      return found && `${reason}: ${found.note ?? ''}`;
    },
    { timeoutMs },
  );
}
