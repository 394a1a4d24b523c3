/** Follows the admission policies and bindings in the store, and asks them about writes. */
import type { Attributes, Authorize, User } from '../access/access.ts';
import { admit } from '../admission/admit.ts';
import { brokenPolicy, type CompiledPolicy, compilePolicy } from '../admission/compiled-policy.ts';
import type { ParamSource } from '../admission/params.ts';
import type { ParamKind, ValidatingAdmissionPolicyBinding } from '../admission/policy.ts';
import type { AdmissionRequest, EquivalentRequest, GroupVersionKind } from '../admission/request.ts';
import type { AccessAnswer, AccessQuestion } from '../cel/library/authorizer.ts';
import { EmbeddedError } from '../errors/errors.ts';
import { asBinding, asPolicy, BINDING_STORED, POLICY_STORED } from '../kinds/policies.ts';
import { type Draft, draftOf, type JsonObject } from '../object/draft.ts';
import type { Admit, Context, Target, Write } from '../rest/context.ts';
import { draftFor } from '../rest/present.ts';
import { scaleOf } from '../rest/scale-object.ts';
import { refusalOf } from '../status/refusal.ts';
import type { Entry } from '../store/entry.ts';

export class Policies {
  readonly #context: Context;
  readonly #authorize: Authorize;
  readonly #policies = new Map<string, CompiledPolicy>();
  readonly #bindings = new Map<string, ValidatingAdmissionPolicyBinding>();
  readonly #listening: readonly Disposable[];

  constructor(context: Context, authorize: Authorize, onError: (error: unknown) => void) {
    this.#context = context;
    this.#authorize = authorize;
    const follow = <T>(resource: string, known: Map<string, T>, read: (object: Draft) => T): Disposable => {
      const set = ({ key, body }: Entry): unknown => known.set(key.name, read(draftOf(body)));
      context.store.range({ resource }).forEach(set);
      return context.store.listen(resource, (events) => {
        for (const { entry, deleted } of events) {
          if (deleted) known.delete(entry.key.name);
          else set(entry);
        }
      });
    };
    this.#listening = [
      follow(POLICY_STORED, this.#policies, (object) => compiled(object, onError)),
      follow(BINDING_STORED, this.#bindings, asBinding),
    ];
  }

  close(): void {
    for (const listening of this.#listening) listening[Symbol.dispose]();
  }

  /** What this user's writes are asked; nothing while no policy is bound, so that writes cost nothing more then. */
  admitFor(user: User): Admit | undefined {
    if (this.#bindings.size === 0 || this.#policies.size === 0) return undefined;
    return (write) => {
      const { denied, warnings } = admit(
        this.#policies.values(),
        [...this.#bindings.values()],
        this.#ask(write, user),
        {
          params: (kind) => this.#paramsOf(kind),
          authorize: (question) => this.#check(question, user),
        },
      );
      if (denied) throw refusalOf(denied);
      return warnings;
    };
  }

  #ask({ operation, target, object, old, dryRun }: Write, user: User): AdmissionRequest {
    const { served, subresource } = target;
    const { kind } = served;
    const seen = (one: Draft | undefined): JsonObject | undefined =>
      one && subresource === 'scale' ? scaleOf(one, target) : one;
    const namespaceObject = (): JsonObject | undefined => this.#namespace(target, operation);
    const equivalents = (): readonly EquivalentRequest[] => otherVersions(target, seen(object), seen(old));
    return {
      operation,
      kind: kindOf(target, served.version.name),
      resource: { group: kind.group, version: served.version.name, resource: kind.plural },
      subResource: subresource,
      name: target.name,
      namespace: namespaceOf(target, operation),
      object: seen(object),
      oldObject: seen(old),
      userInfo: {
        username: user.name,
        ...(user.uid === undefined ? {} : { uid: user.uid }),
        groups: user.groups,
        ...(user.extra === undefined ? {} : { extra: user.extra }),
      },
      dryRun,
      options: {
        kind: { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions' }[operation],
        apiVersion: 'meta.k8s.io/v1',
        ...(dryRun ? { dryRun: ['All'] } : {}),
      },
      // Only few policies look at these.
      get namespaceObject() {
        return namespaceObject();
      },
      get equivalents() {
        return equivalents();
      },
    };
  }

  #namespace(target: Target, operation: Write['operation']): JsonObject | undefined {
    const name = namespaceOf(target, operation);
    const served = this.#context.registry.find('', 'v1', 'namespaces');
    const entry = name === '' ? undefined : this.#context.store.get({ resource: 'namespaces', namespace: '', name });
    return served && entry && draftFor(served, entry);
  }

  #paramsOf({ apiVersion, kind }: ParamKind): ParamSource | undefined {
    const { registry, store } = this.#context;
    const served = registry.findKind(apiVersion, kind);
    if (served === undefined) return undefined;
    const { stored: resource, namespaced } = served.kind;
    return {
      isNamespaced: namespaced,
      get(namespace, name) {
        const entry = store.get({ resource, namespace, name });
        return entry && draftFor(served, entry);
      },
      list: (namespace) =>
        store.range({ resource, ...(namespace === '' ? {} : { namespace }) }).map((entry) => draftFor(served, entry)),
    };
  }

  /** Expressions cannot wait: an authorizer that answers later is one that has no answer. */
  #check(question: AccessQuestion, user: User): AccessAnswer {
    const verdict = this.#authorize(attributesOf(question, user));
    if (!(verdict instanceof Promise)) return verdict;
    verdict.catch(() => undefined);
    return { allowed: false, error: 'the authorizer of this server does not answer at once' };
  }
}

/** The policy is in the store, whatever comes of it: one that cannot be asked must neither stop the server nor let anything pass. */
function compiled(object: Draft, onError: (error: unknown) => void): CompiledPolicy {
  const source = asPolicy(object);
  try {
    return compilePolicy(source);
  } catch (error) {
    const name = source.metadata.name ?? '';
    const why = error instanceof Error ? error.message : String(error);
    const message = `the admission policy ${name} cannot be compiled: ${why}`;
    onError(new EmbeddedError('EMBEDDED_POLICY', message, [name], error));
    return brokenPolicy(source, why);
  }
}

/** A namespace lies in itself, once it is there. */
function namespaceOf({ served, namespace, name }: Target, operation: Write['operation']): string {
  if (served.kind.stored !== 'namespaces') return namespace;
  return operation === 'CREATE' ? '' : name;
}

const kindOf = ({ served, subresource }: Target, version: string): GroupVersionKind =>
  subresource === 'scale'
    ? { group: 'autoscaling', version: 'v1', kind: 'Scale' }
    : { group: served.kind.group, version, kind: served.kind.kind };

/** The same content in all versions: there is no conversion. */
function otherVersions(
  target: Target,
  object: JsonObject | undefined,
  oldObject: JsonObject | undefined,
): readonly EquivalentRequest[] {
  const { kind, version } = target.served;
  return kind.versions
    .filter(({ name }) => name !== version.name)
    .map(({ name }) => {
      const as = (one: JsonObject | undefined) => one && { ...one, apiVersion: `${kind.group}/${name}` };
      const isScale = target.subresource === 'scale';
      return {
        kind: kindOf(target, name),
        resource: { group: kind.group, version: name, resource: kind.plural },
        object: isScale ? object : as(object),
        oldObject: isScale ? oldObject : as(oldObject),
      };
    });
}

function attributesOf(question: AccessQuestion, user: User): Attributes {
  const { verb, path, serviceAccount } = question;
  return {
    user: serviceAccount ? serviceAccountUser(serviceAccount) : user,
    verb,
    path,
    group: question.group ?? '',
    version: path === undefined ? '*' : '',
    resource: question.resource ?? '',
    subresource: question.subresource ?? '',
    namespace: question.namespace ?? '',
    name: question.name ?? '',
    labelSelector: question.labelSelector ?? '',
    fieldSelector: question.fieldSelector ?? '',
  };
}

const serviceAccountUser = ({ namespace, name }: { readonly namespace: string; readonly name: string }): User => ({
  name: `system:serviceaccount:${namespace}:${name}`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
});
