/** Keeps the EndpointSlices of every service that selects pods. */
import type { Stored } from '@reeve/kube';
import { Controller, type Parts, type Reconcile, type Reflection } from '@reeve/runtime/manager';
import { endpointSlices } from '../../kinds/endpointslice.ts';
import { type Pod, pods } from '../../kinds/pod.ts';
import { selects } from '../../kinds/selector.ts';
import { type Service, services } from '../../kinds/service.ts';
import { type Node, nodes } from '../../kinds/node.ts';
import { BUSY, expecting } from '../owned/expected.ts';
import { MANAGED_BY, MANAGER, planSlices } from './plan.ts';

const ZONE = 'topology.kubernetes.io/zone';
const NAMESPACE = 'reeve/namespace';

function namespaceIndex({ metadata }: { readonly metadata: { readonly namespace?: string } }): readonly string[] {
  return [metadata.namespace ?? ''];
}

export class EndpointsController extends Controller<Service> {
  #services!: Reflection<Service>;
  #pods!: Reflection<Pod>;
  #nodes!: Reflection<Node>;

  constructor() {
    const reconcile = expecting((work: Reconcile<Service>) => this.#reconcile(work));
    super({ name: 'endpointslice', kind: services, cancelOn: false, hotLoop: BUSY, reconcile });
  }

  override setUp(parts: Parts): void {
    this.#services = this.setUpKind(parts, services);
    // One controller per managed slice: slices of others (mirrored, by hand) are none of ours.
    parts.own(endpointSlices, this.#services, { labelSelector: `${MANAGED_BY}=${MANAGER}` });
    const indexes = { [NAMESPACE]: namespaceIndex };
    this.#pods = parts.wake(pods, this.#services, ({ metadata }) => this.#near(metadata), { unscoped: true, indexes });
    this.#nodes = parts.wake(nodes, this.#services, ({ metadata }, { previous, change }) => {
      const isMoved = metadata.labels?.[ZONE] !== previous?.metadata.labels?.[ZONE];
      return isMoved || change !== 'changed' ? [...this.#services.cache.keys()] : [];
    });
  }

  #near({ namespace, labels }: Stored<Pod>['metadata']): readonly string[] {
    const all = [...this.#services.cache.values()].filter(({ metadata }) => metadata.namespace === namespace);
    const selecting = all.filter(({ spec }) => spec?.selector && selects({ matchLabels: spec.selector }, labels));
    return selecting.map(({ metadata }) => `${namespace}/${metadata.name}`);
  }

  async #reconcile(work: Reconcile<Service>): Promise<void> {
    const service = work.object as Stored<Service>;
    const { selector, type } = service.spec ?? {};
    const isOurs = selector !== undefined && type !== 'ExternalName';
    if (!isOurs || service.metadata.deletionTimestamp !== undefined) return;
    const near = this.#pods.cache.byIndex(NAMESPACE, service.metadata.namespace ?? '') as readonly Stored<Pod>[];
    const selected = near.filter(({ metadata }) => selects({ matchLabels: selector }, metadata.labels));
    const zoneOf = (node: string) => this.#nodes.cache.get(node)?.metadata.labels?.[ZONE];
    const slices = planSlices(service, selected, zoneOf);
    for (const slice of slices) await work.apply(endpointSlices, slice);
    const wanted = new Set(slices.map(({ metadata }) => metadata.name));
    for (const slice of work.children(endpointSlices)) {
      if (!wanted.has(slice.metadata.name)) await work.remove(endpointSlices, slice);
    }
  }
}
