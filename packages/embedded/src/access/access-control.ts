/**
 * Users, tokens and roles of a server, out of its own store. Give it to an ApiServer as `access`, and call `install` once
 * the server is open: it makes what every cluster has, and keeps roles of roles and the accounts of namespaces current.
 */
import { type Clock, type Random, stringifyJson, type Transport } from '@reeve/kube';
import type { Draft } from '../object/draft.ts';
import type { Kind } from '../kinds/kind.ts';
import { timeText } from '../format/time.ts';
import type { Outcome, WriteCheck } from '../rest/context.ts';
import { decodeObject } from '../rest/decode.ts';
import { uuid } from '../rest/prepare.ts';
import type { Served } from '../kinds/registry.ts';
import { methodNotAllowed } from '../status/refusal.ts';
import type { Store } from '../store/store.ts';
import { accessRefusal, type Attributes, type Authenticate } from './access.ts';
import { Authentication } from './authentication.ts';
import type { TokenIssuer } from './bound-token.ts';
import { escalationCheck } from './escalation.ts';
import { Housekeeping } from './housekeeping.ts';
import type { SigningKey } from './jwt.ts';
import { type AuthorizeNow, rbacAuthorization } from './rbac.ts';
import { reviewed, reviewKinds } from './reviews.ts';
import { Roles } from './roles.ts';
import { type StaticToken, staticTokenLookup } from './static-tokens.ts';
import { issueToken, readTokenRequest, tokenRequests } from './token-request.ts';

export interface AccessOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  /** The first signs tokens of service accounts; all are believed. */
  readonly keys: readonly [SigningKey, ...SigningKey[]];
  readonly issuer?: string;
  /** Names under which this server takes tokens. Default: the issuer. */
  readonly audiences?: readonly string[];
  readonly tokens?: readonly StaticToken[];
  /** Default: whoever shows nothing is refused. */
  readonly anonymous?: boolean;
}

/** What the server asks for, besides who somebody is and whether he may. */
export interface AccessCall {
  readonly attributes: Attributes;
  readonly served: Served;
  readonly body: string;
}

const ISSUER = 'https://kubernetes.default.svc.cluster.local';

export class AccessControl implements Disposable {
  readonly authenticate: Authenticate;
  readonly authorize: AuthorizeNow;
  /** Served besides the kinds that are stored. */
  readonly kinds: readonly Kind[] = reviewKinds;
  readonly #options: AccessOptions;
  readonly #tokens: TokenIssuer;
  readonly #roles: Roles;
  readonly #authentication: Authentication;
  #housekeeping: Housekeeping | undefined;

  constructor(options: AccessOptions) {
    const { store, clock, keys, issuer = ISSUER, audiences = [issuer], tokens = [], anonymous = false } = options;
    this.#options = options;
    this.#tokens = { keys, issuer, audiences };
    this.#roles = new Roles(store);
    const staticToken = staticTokenLookup(tokens);
    this.#authentication = new Authentication({ store, clock, tokens: this.#tokens, staticToken, anonymous });
    this.authenticate = this.#authentication.authenticate;
    this.authorize = rbacAuthorization(this.#roles);
  }

  /** The default roles are there when it resolves. @param transport of an administrator. */
  async install(transport: Transport, onError: (error: unknown) => void = () => undefined): Promise<void> {
    this.#housekeeping ??= new Housekeeping(this.#options.store, transport, onError);
    await this.#housekeeping.begin();
  }

  /** What must be known of the object before it is known whether it may be written. */
  writeCheck(attributes: Attributes): WriteCheck {
    const check = escalationCheck(this.#roles, this.authorize, attributes);
    return (object, old) => {
      check?.(object, old);
      // An update or an apply of what is not there creates it.
      if (old !== undefined || attributes.verb === 'create') return;
      const creation = { ...attributes, verb: 'create' };
      const { allowed, reason } = this.authorize(creation);
      if (!allowed) throw accessRefusal(creation, reason);
    };
  }

  /** Answers what is asked, not stored. Undefined: an ordinary request. */
  answer({ attributes, served, body }: AccessCall): Outcome | undefined {
    const { clock, random, store } = this.#options;
    const { verb, subresource } = attributes;
    if (isTokenRequest(attributes)) {
      if (verb !== 'create') throw methodNotAllowed();
      const ports = { store, tokens: this.#tokens, now: () => clock.now(), id: () => uuid({ random }) };
      return created(issueToken(ports, readTokenRequest(body), attributes));
    }
    if (verb !== 'create' || subresource !== '' || !reviewKinds.includes(served.kind)) return undefined;
    const ports = {
      roles: this.#roles,
      authorize: this.authorize,
      authentication: this.#authentication,
      audiences: this.#tokens.audiences,
      now: () => timeText(clock.now()),
    };
    const answer = reviewed(ports, decodeObject(body, served).object, attributes);
    return answer && created(answer);
  }

  [Symbol.dispose](): void {
    this.#housekeeping?.[Symbol.dispose]();
    this.#roles[Symbol.dispose]();
  }
}

const isTokenRequest = ({ group, resource, subresource }: Attributes): boolean =>
  group === tokenRequests.group && resource === tokenRequests.resource && subresource === tokenRequests.subresource;

const created = ({ kind, apiVersion, metadata, ...rest }: Draft): Outcome => ({
  code: 201,
  text: stringifyJson({ kind, apiVersion, metadata, ...rest }),
  warnings: [],
});
