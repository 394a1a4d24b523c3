/**
 * What controllers of a real cluster do for access: the default roles, roles made of others, and an account named
 * `default` in every namespace. Each turn looks at all there is, so nothing depends on having seen an event.
 */
import { readBody, type Transport } from '@reeve/kube';
import { type Draft, draftOf, type JsonObject, textOf } from '../object/draft.ts';
import type { Entry } from '../store/entry.ts';
import type { Store } from '../store/store.ts';
import { aggregated } from './aggregation.ts';
import { defaultClusterRoleBindings, defaultClusterRoles } from './default-roles.ts';
import { RBAC } from './groups.ts';

const ROLES = `/apis/${RBAC}/v1/clusterroles`;
const BINDINGS = `/apis/${RBAC}/v1/clusterrolebindings`;
const STORED_ROLES = `clusterroles.${RBAC}`;
const JSON_TYPE = { 'content-type': 'application/json' };
const MOST_ANSWER = 8 * 1024 * 1024;

export class Housekeeping implements Disposable {
  readonly #store: Store;
  readonly #transport: Transport;
  readonly #onError: (error: unknown) => void;
  readonly #listening: Disposable[] = [];
  #turn: Promise<void> | undefined;
  #isAgain = false;
  #isEnded = false;

  constructor(store: Store, transport: Transport, onError: (error: unknown) => void) {
    this.#store = store;
    this.#transport = transport;
    this.#onError = onError;
  }

  async begin(): Promise<void> {
    await Promise.all([
      ...defaultClusterRoles.map((role) => this.#create(ROLES, STORED_ROLES, role)),
      ...defaultClusterRoleBindings.map((one) => this.#create(BINDINGS, `clusterrolebindings.${RBAC}`, one)),
    ]);
    for (const resource of [STORED_ROLES, 'namespaces', 'serviceaccounts']) {
      this.#listening.push(this.#store.listen(resource, () => void this.#wake().catch(this.#onError)));
    }
    await this.#wake();
  }

  [Symbol.dispose](): void {
    this.#isEnded = true;
    for (const one of this.#listening) one[Symbol.dispose]();
  }

  /** One turn at a time; events that come during one make another. */
  #wake(): Promise<void> {
    this.#isAgain = true;
    this.#turn ??= this.#work().finally(() => {
      this.#turn = undefined;
    });
    return this.#turn;
  }

  async #work(): Promise<void> {
    while (this.#isAgain && !this.#isEnded) {
      this.#isAgain = false;
      await this.#aggregate();
      await this.#createAccounts();
    }
  }

  /** All at once, so that they share a sync of the disk. */
  async #aggregate(): Promise<void> {
    const roles = this.#store.range({ resource: STORED_ROLES }).map((entry: Entry) => draftOf(entry.body));
    await Promise.all(
      aggregated(roles).map(({ role, rules }) => {
        const name = encodeURIComponent(textOf(role.metadata.name));
        const object: JsonObject = { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', ...role, rules: [...rules] };
        const query = '?fieldManager=clusterrole-aggregation-controller';
        // A conflict means another write: its event comes, and with it another turn.
        return this.#send('PUT', `${ROLES}/${name}${query}`, object, [404, 409]);
      }),
    );
  }

  async #createAccounts(): Promise<void> {
    const missing = this.#store.range({ resource: 'namespaces' }).filter(({ key: { name: namespace }, body }) => {
      const has = this.#store.get({ resource: 'serviceaccounts', namespace, name: 'default' }) !== undefined;
      return !has && !isDeleting(draftOf(body));
    });
    await Promise.all(
      missing.map(({ key: { name: namespace } }) => {
        const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace } };
        const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/serviceaccounts`;
        // The namespace may be on its way out, or somebody else was faster.
        return this.#send('POST', `${path}?fieldManager=serviceaccount-controller`, account, [403, 404, 409]);
      }),
    );
  }

  async #create(path: string, resource: string, object: JsonObject): Promise<void> {
    const { name } = object.metadata as { readonly name: string };
    if (this.#store.get({ resource, namespace: '', name }) !== undefined) return;
    await this.#send('POST', `${path}?fieldManager=reeve-apiserver`, object, [409]);
  }

  async #send(method: 'POST' | 'PUT', path: string, object: object, fine: readonly number[]): Promise<void> {
    const response = await this.#transport({ method, path, headers: JSON_TYPE, body: JSON.stringify(object) });
    const text = (await readBody(response.body, MOST_ANSWER)).toString();
    if (response.status >= 300 && !fine.includes(response.status)) throw new Error(`${method} ${path}: ${text}`);
  }
}

const isDeleting = ({ metadata }: Draft): boolean => metadata.deletionTimestamp !== undefined;
