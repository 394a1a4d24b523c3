/** Every namespace has a config map with the authority of the API server: pods that call it trust nobody else. */
import type { KubeObject } from '@reeve/kube';
import { Controller, type Parts, type Reconcile, type Reflection } from '@reeve/runtime/manager';
import { type ConfigMap, configMaps, ROOT_CA } from '../../kinds/config-map.ts';
import { type Namespace, namespaces } from '../../kinds/namespace.ts';
import { expecting } from '../owned/expected.ts';
import { change, createIfAbsent } from '../owned/writes.ts';

const KEY = 'ca.crt';

export class RootCaPublisher extends Controller<Namespace> {
  readonly #ca: string;
  #maps!: Reflection<ConfigMap>;

  /** @param ca certificates in PEM. */
  constructor(ca: string) {
    const reconcile = expecting((work: Reconcile<Namespace>) => this.#reconcile(work));
    super({ name: 'root-ca', kind: namespaces, cancelOn: false, reconcile });
    this.#ca = ca;
  }

  override setUp(parts: Parts): void {
    const all = this.setUpKind(parts, namespaces);
    const home = ({ metadata }: KubeObject) => [metadata.namespace ?? ''];
    this.#maps = parts.wake(configMaps, all, home, { fieldSelector: `metadata.name=${ROOT_CA}` });
  }

  async #reconcile(work: Reconcile<Namespace>): Promise<void> {
    const { name, deletionTimestamp } = work.object.metadata;
    if (deletionTimestamp !== undefined) return;
    const data = { [KEY]: this.#ca };
    const found = this.#maps.cache.get(`${name}/${ROOT_CA}`);
    if (!found) {
      await createIfAbsent(work, this.#maps, { metadata: { name: ROOT_CA, namespace: name }, data });
      return;
    }
    const names = Object.keys(found.data ?? {});
    if (names.length === 1 && found.data?.[KEY] === this.#ca) return;
    const others = Object.fromEntries(names.filter((one) => one !== KEY).map((one) => [one, null]));
    await change(work, this.#maps, found, { data: { ...others, ...data } });
  }
}
