/** The endpoints of a service, in slices: pods whose ports have the same numbers are together, a hundred at most. Pure. */
import type { Stored } from '@reeve/kube';
import type { Endpoint, EndpointPort, EndpointSlice } from '../../kinds/endpointslice.ts';
import type { Container, Pod } from '../../kinds/pod.ts';
import type { Service, ServicePort } from '../../kinds/service.ts';
import { isEnded, isReady, isTerminating } from '../owned/pod-state.ts';
import { hashOf } from '../revision/history.ts';

const SERVICE_NAME = 'kubernetes.io/service-name';
export const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by';
export const MANAGER = 'endpointslice-controller.k8s.io';
const HEADLESS = 'service.kubernetes.io/headless';
const MOST_IN_SLICE = 100;

export type Slice = EndpointSlice & { readonly metadata: { readonly name: string } };

/** `zoneOf`: of a node by its name. */
export function planSlices(
  service: Stored<Service>,
  pods: readonly Stored<Pod>[],
  zoneOf: (node: string) => string | undefined,
): readonly Slice[] {
  const reachable = pods
    .filter((pod) => (pod.status?.podIP ?? '') !== '' && !isEnded(pod))
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const groups = Map.groupBy(reachable, (pod) => JSON.stringify(portsOf(service, pod)));
  // Without any endpoint there is one empty slice, so that nobody waits for one.
  if (groups.size === 0) return [sliceOf(service, [], [], 0)];
  return [...groups].flatMap(([text, members]) => {
    const ports = JSON.parse(text) as readonly EndpointPort[];
    const slices: Slice[] = [];
    for (let at = 0; at < members.length; at += MOST_IN_SLICE) {
      const some = members.slice(at, at + MOST_IN_SLICE).map((pod) => endpointOf(service, pod, zoneOf));
      slices.push(sliceOf(service, ports, some, at / MOST_IN_SLICE));
    }
    return slices;
  });
}

function sliceOf(
  service: Stored<Service>,
  ports: readonly EndpointPort[],
  endpoints: readonly Endpoint[],
  number: number,
): Slice {
  const { name, namespace, labels } = service.metadata;
  const isHeadless = service.spec?.clusterIP === 'None';
  return {
    metadata: {
      // From what is in it: a turn that is repeated writes the same slice.
      name: `${name}-${hashOf([ports, number])}`,
      ...(namespace !== undefined && { namespace }),
      labels: { ...labels, [SERVICE_NAME]: name, [MANAGED_BY]: MANAGER, ...(isHeadless && { [HEADLESS]: '' }) },
    },
    addressType: 'IPv4',
    endpoints,
    ports,
  };
}

function endpointOf(
  { spec, metadata }: Stored<Service>,
  pod: Stored<Pod>,
  zoneOf: (node: string) => string | undefined,
): Endpoint {
  const serving = isReady(pod);
  const terminating = isTerminating(pod);
  const { nodeName, hostname = '', subdomain } = pod.spec ?? {};
  const zone = nodeName === undefined ? undefined : zoneOf(nodeName);
  const { name, namespace, uid } = pod.metadata;
  return {
    addresses: [pod.status?.podIP ?? ''],
    conditions: { ready: spec?.publishNotReadyAddresses === true || (serving && !terminating), serving, terminating },
    // A name of its own below the name of the service.
    ...(hostname !== '' && subdomain === metadata.name && { hostname }),
    ...(nodeName !== undefined && { nodeName }),
    ...(zone !== undefined && { zone }),
    targetRef: { kind: 'Pod', ...(namespace !== undefined && { namespace }), name, uid },
  };
}

/** A port by name is whatever number the pod gives that name; a pod without that name has no such port. */
function portsOf({ spec }: Stored<Service>, pod: Pod): readonly EndpointPort[] {
  return (spec?.ports ?? []).flatMap((port) => {
    const number = numberOf(port, pod);
    if (number === undefined) return [];
    const { name = '', protocol = 'TCP', appProtocol } = port;
    return [{ name, port: number, protocol, ...(appProtocol !== undefined && { appProtocol }) }];
  });
}

function numberOf({ targetPort, port, protocol = 'TCP' }: ServicePort, { spec }: Pod): number | undefined {
  if (targetPort === undefined) return port;
  if (typeof targetPort === 'number') return targetPort === 0 ? port : targetPort;
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  const containers: readonly Container[] = [...(spec?.containers ?? []), ...sidecars];
  const named = containers.flatMap(({ ports = [] }) => ports);
  return named.find((one) => one.name === targetPort && (one.protocol ?? 'TCP') === protocol)?.containerPort;
}
