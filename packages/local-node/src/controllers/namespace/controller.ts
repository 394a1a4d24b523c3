/** Namespaces that are being deleted are emptied, kind by kind, pods first; then the namespace's own finalizer goes. */
import { isKubeError, type KubeObject, metadataOnly, type Resource, type Stored } from '@reeve/kube';
import { asReeveError, requeueAfter, type Verdict } from '@reeve/runtime';
import { Controller, kindName, type Reconcile } from '@reeve/runtime/manager';
import { type Namespace, namespaces } from '../../kinds/namespace.ts';
import { type Discovery, servedKinds } from '../garbage/served.ts';
import { expecting } from '../owned/expected.ts';
import { contentConditions, isEmpty, type Remaining } from './content.ts';

type Work = Reconcile<Namespace>;

const FINALIZER = 'kubernetes';
const LOOK_AGAIN_MS = 1_000;
const PAGE = 500;

export class NamespaceController extends Controller<Namespace> {
  readonly #client: Discovery;

  constructor(client: Discovery) {
    const reconcile = expecting((work: Work) => this.#reconcile(work));
    super({ name: 'namespace', kind: namespaces, cancelOn: false, reconcile });
    this.#client = client;
  }

  async #reconcile(work: Work): Promise<Verdict | void> {
    const { metadata, spec, status } = work.object as Stored<Namespace>;
    const finalizers = spec?.finalizers ?? [];
    if (metadata.deletionTimestamp === undefined || !finalizers.includes(FINALIZER)) return;
    const left = await this.#empty(work, metadata.name);
    const phase = 'Terminating' as const;
    await work.status({ ...status, phase, conditions: contentConditions(status?.conditions, left, work.now()) });
    if (!isEmpty(left)) return requeueAfter(LOOK_AGAIN_MS);
    await this.#finalize(work, metadata.name, metadata.uid);
  }

  /** Deletes all there is and says what still is there. Nothing new can come: the server refuses it. */
  async #empty(work: Work, namespace: string): Promise<Remaining> {
    const resources = new Map<string, number>();
    const finalizers = new Map<string, number>();
    const failures: string[] = [];
    let kinds: readonly Resource<KubeObject>[] = [];
    try {
      kinds = (await servedKinds(this.#client, work.signal)).filter(({ namespaced }) => namespaced);
    } catch (error) {
      work.signal.throwIfAborted();
      return { resources, finalizers, failures, undiscovered: asReeveError(error).message };
    }
    const isPods = ({ group, plural }: Resource<KubeObject>) => group === '' && plural === 'pods';
    for (const kind of kinds.toSorted((a, b) => Number(isPods(b)) - Number(isPods(a)))) {
      const there = await this.#deleteAll(work, kind, namespace, failures);
      if (there.length === 0) continue;
      resources.set(kind.group === '' ? `${kind.plural}.` : kindName(kind), there.length);
      for (const name of there.flatMap(({ metadata }) => metadata.finalizers ?? [])) {
        finalizers.set(name, (finalizers.get(name) ?? 0) + 1);
      }
      // What pods run on, and write to, stays until they have ended.
      if (isPods(kind)) break;
    }
    return { resources, finalizers, failures, undiscovered: undefined };
  }

  async #deleteAll(work: Work, kind: Resource<KubeObject>, namespace: string, failures: string[]) {
    const api = work.api.resource(metadataOnly(kind), namespace);
    const { signal } = work;
    try {
      for (const { metadata } of await this.#list(work, kind, namespace)) {
        if (metadata.deletionTimestamp !== undefined) continue;
        await api
          .delete(metadata.name, { uid: metadata.uid, propagationPolicy: 'Background', signal })
          .catch(unlessGone);
      }
      return await this.#list(work, kind, namespace);
    } catch (error) {
      signal.throwIfAborted();
      failures.push(`${kindName(kind)}: ${asReeveError(error).message}`);
      return [];
    }
  }

  async #list(work: Work, kind: Resource<KubeObject>, namespace: string): Promise<readonly Stored<KubeObject>[]> {
    const found: Stored<KubeObject>[] = [];
    let from: string | undefined;
    do {
      const more = from !== undefined && { continue: from };
      const api = work.api.resource(metadataOnly(kind), namespace);
      const page = await api.list({ limit: PAGE, signal: work.signal, ...more });
      found.push(...page.items);
      from = page.metadata.continue || undefined;
    } while (from !== undefined);
    return found;
  }

  async #finalize(work: Work, name: string, uid: string): Promise<void> {
    const api = work.api.resource(namespaces);
    const live = await api.find(name, { signal: work.signal });
    if (live?.metadata.uid !== uid || live.metadata.deletionTimestamp === undefined) return;
    const finalizers = (live.spec?.finalizers ?? []).filter((one) => one !== FINALIZER);
    const options = { subresource: 'finalize', signal: work.signal };
    await api.update({ ...live, spec: { ...live.spec, finalizers } }, options).catch(unlessGone);
  }
}

function unlessGone(error: unknown): undefined {
  if (isKubeError(error, 'KUBE_NOT_FOUND')) return undefined;
  throw error;
}
