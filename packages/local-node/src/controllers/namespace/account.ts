/** Every namespace has an account `default`: pods that name none run as it. */
import { type KubeObject, resource } from '@reeve/kube';
import { Controller, type Parts, type Reconcile, type Reflection } from '@reeve/runtime/manager';
import { type Namespace, namespaces } from '../../kinds/namespace.ts';
import { expecting } from '../owned/expected.ts';
import { createIfAbsent } from '../owned/writes.ts';

const DEFAULT = 'default';

const serviceAccounts = resource<KubeObject>({
  group: '',
  version: 'v1',
  plural: 'serviceaccounts',
  kind: 'ServiceAccount',
  namespaced: true,
});

export class AccountController extends Controller<Namespace> {
  #accounts!: Reflection<KubeObject>;

  constructor() {
    const reconcile = expecting((work: Reconcile<Namespace>) => this.#reconcile(work));
    super({ name: 'account', kind: namespaces, cancelOn: false, reconcile });
  }

  override setUp(parts: Parts): void {
    const all = this.setUpKind(parts, namespaces);
    const home = ({ metadata }: KubeObject) => (metadata.name === DEFAULT ? [metadata.namespace ?? ''] : []);
    this.#accounts = parts.wake(serviceAccounts, all, home);
  }

  async #reconcile(work: Reconcile<Namespace>): Promise<void> {
    const { name, deletionTimestamp } = work.object.metadata;
    if (deletionTimestamp !== undefined || this.#accounts.cache.get(`${name}/${DEFAULT}`)) return;
    await createIfAbsent(work, this.#accounts, { metadata: { name: DEFAULT, namespace: name } });
  }
}
