/** The API server in one process: a store, what is served, who may; a function from requests to answers. */
import type { Clock, Random, Transport, TransportRequest, TransportResponse } from '@reeve/kube';
import {
  accessRefusal,
  administrator,
  allowEverything,
  type Attributes,
  type Authenticate,
  type Authorize,
  type ClientCertificate,
  type User,
  type Verdict,
} from '../access/access.ts';
import { NOWHERE } from '../access/access.ts';
import type { AccessControl } from '../access/access-control.ts';
import { actingUser } from '../access/impersonation.ts';
import { apiGroup, apiGroups, apiResources, apiVersions, versionInfo } from '../discovery/discovery.ts';
import { builtinKinds } from '../kinds/builtin.ts';
import { type CustomRules, schemaRules } from '../kinds/custom.ts';
import type { Kind } from '../kinds/kind.ts';
import { Registry } from '../kinds/registry.ts';
import { pathSegment } from '../object/names.ts';
import type { PodAccess } from '../pods/pod-access.ts';
import { onPod, type PodCall } from '../pods/serve.ts';
import { negotiatePlain } from '../request/media.ts';
import { type ApiPath, parsePath } from '../request/path.ts';
import type { Context, Plugins } from '../rest/context.ts';
import { createObject } from '../rest/create.ts';
import { flag } from '../rest/list-options.ts';
import { exactValue, parseFieldSelector } from '../selector/fields.ts';
import { serviceRanges } from '../services/ranges.ts';
import { methodNotAllowed, noSuchPath, unauthorized } from '../status/refusal.ts';
import type { Store } from '../store/store.ts';
import type { WatchStream } from '../watch/stream.ts';
import type { WatchLimits } from '../watch/watch.ts';
import type { Upgraded } from '../websocket/message-socket.ts';
import { answer, answerError, answerJson, answerOutcome } from './answer.ts';
import { Definitions } from './definitions.ts';
import { standardPlugins } from './plugins.ts';
import { Policies } from './policies.ts';
import { carryOut, header, type Routing } from './routes.ts';

export interface ServerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  /** Nobody is let in through `handle` without it; `transport` needs none. */
  readonly authenticate?: Authenticate;
  /** Default: whoever is known may do everything. */
  readonly authorize?: Authorize;
  /** Users, tokens and roles out of the store: takes the place of the two above. */
  readonly access?: AccessControl;
  /** What is asked of custom objects. Default: what the schema in their definition says, with its expressions. */
  readonly customRules?: CustomRules;
  /** Patches and managed fields. Default: as the real server has them. */
  readonly plugins?: Plugins;
  readonly kinds?: readonly Kind[];
  /** Whoever runs the pods: with it their logs are served, and commands in them. */
  readonly pods?: PodAccess;
  /**
   * New pods get the account `default` and a token where they name none, and must name one that is there. Default false, because
   * somebody must make those accounts: `AccessControl` does.
   */
  readonly serviceAccounts?: boolean;
  /**
   * The IPv4 network of which services get their addresses. Default: 10.96.0.0/16. Services keep what they have when it
   * changes. Nothing makes these addresses lead anywhere but who runs services on this server.
   */
  readonly serviceRange?: string;
  readonly watch?: WatchLimits;
  /** Told of what nobody foresaw; the client gets an answer that says no more than that. */
  readonly onError?: (error: unknown) => void;
}

const FIRST_NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];
const HEALTH = ['/livez', '/readyz', '/healthz'];
const VERBS: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

export class ApiServer {
  readonly #options: ServerOptions;
  readonly #context: Context;
  readonly #routing: Routing;
  readonly #definitions: Definitions;
  readonly #policies: Policies;
  readonly #onError: (error: unknown) => void;
  readonly #streams = new Map<string, Set<WatchStream>>();
  readonly #closing = new AbortController();

  /** The first namespaces are there when it resolves. The store stays the caller's: he closes it. */
  static async open(options: ServerOptions): Promise<ApiServer> {
    const server = new ApiServer(options);
    await server.#createNamespaces();
    return server;
  }

  private constructor(options: ServerOptions) {
    const { store, clock, random, plugins = standardPlugins, watch = {} } = options;
    this.#options = options;
    this.#onError = options.onError ?? (() => undefined);
    const kinds = [...(options.kinds ?? builtinKinds), ...(options.access?.kinds ?? [])];
    const registry = new Registry(kinds, options.customRules ?? schemaRules);
    const ranges = serviceRanges(options.serviceRange);
    const hasAccounts = options.serviceAccounts ?? false;
    this.#context = { store, registry, clock, random, plugins, ranges, hasAccounts };
    this.#routing = {
      context: this.#context,
      watchLimits: watch,
      onWatch: (stored, stream) => this.#keep(stored, stream),
    };
    this.#definitions = new Definitions(this.#context, (stored) => this.#endWatches(stored), this.#onError);
    const authorize = options.authorize ?? options.access?.authorize ?? allowEverything;
    this.#policies = new Policies(this.#context, authorize, this.#onError);
  }

  /** Requests as a given user, without a network and without credentials. */
  transport(user: User = administrator): Transport {
    return (request) => this.#serve(request, () => user);
  }

  /** Requests of whoever: the credentials decide. Never rejects. */
  handle(request: TransportRequest, certificate?: ClientCertificate): Promise<TransportResponse> {
    return this.#serve(request, () => this.#identify(request, certificate));
  }

  /** Requests of whoever that want to become a WebSocket. Most do not, and get an answer. Never rejects. */
  async connect(request: TransportRequest, certificate?: ClientCertificate): Promise<TransportResponse | Upgraded> {
    const made: Upgraded[] = [];
    const become = (upgraded: Upgraded): void => void made.push(upgraded);
    const answered = await this.#serve(request, () => this.#identify(request, certificate), become);
    return made[0] ?? answered;
  }

  /** Ends all watches, logs and commands. Other requests under way are finished. */
  close(): void {
    this.#closing.abort(new Error('the server stops'));
    this.#definitions.close();
    this.#policies.close();
    for (const stored of [...this.#streams.keys()]) this.#endWatches(stored);
  }

  async #identify(request: TransportRequest, certificate: ClientCertificate | undefined): Promise<User> {
    const { access, authenticate = access?.authenticate } = this.#options;
    const user = await authenticate?.({ header: (name) => header(request, name), certificate });
    if (user === undefined) throw unauthorized();
    return user;
  }

  async #serve(
    request: TransportRequest,
    identify: () => User | Promise<User>,
    become?: PodCall['become'],
  ): Promise<TransportResponse> {
    request.signal?.throwIfAborted();
    try {
      const [path = '', ...rest] = request.path.split('?');
      const query = new URLSearchParams(rest.join('?'));
      const named = parsePath(path);
      if (named.type === 'other' && HEALTH.some((one) => path === one || path.startsWith(`${one}/`))) {
        const isClosed = this.#closing.signal.aborted;
        return {
          ...answer(isClosed ? 503 : 200, isClosed ? 'stopping' : 'ok'),
          headers: { 'content-type': 'text/plain; charset=utf-8' },
        };
      }
      const user = await identify();
      return await this.#route(request, named, query, user, become);
    } catch (error) {
      return answerError(error, this.#onError);
    }
  }

  async #route(
    request: TransportRequest,
    named: ApiPath,
    query: URLSearchParams,
    user: User,
    become: PodCall['become'],
  ): Promise<TransportResponse> {
    if (named.type === 'resource') return this.#onResource(request, named, query, user, become);
    const path = request.path.split('?', 1)[0] as string;
    await this.#allow(request, { ...NOWHERE, user, verb: request.method.toLowerCase(), path });
    if (request.method !== 'GET') throw methodNotAllowed();
    negotiatePlain(header(request, 'accept'));
    const { registry } = this.#context;
    switch (named.type) {
      case 'versions':
        return answerJson(apiVersions());
      case 'groups':
        return answerJson(apiGroups(registry));
      case 'group':
        return answerJson(apiGroup(registry, named.group));
      case 'resources':
        return answerJson(apiResources(registry, named.group, named.version, this.#options.pods !== undefined));
      case 'other':
        if (path === '/version') return answerJson(versionInfo);
        throw noSuchPath();
    }
  }

  async #onResource(
    request: TransportRequest,
    named: Extract<ApiPath, { type: 'resource' }>,
    query: URLSearchParams,
    user: User,
    become: PodCall['become'],
  ): Promise<TransportResponse> {
    const verb = verbOf(request.method, named, query);
    const { group, version, plural, namespace, name, subresource } = named;
    const attributes = await this.#allow(request, {
      user,
      verb,
      path: undefined,
      group,
      version,
      resource: plural,
      subresource,
      namespace: plural === 'namespaces' && group === '' ? name : namespace,
      name: name === '' ? selectedName(query) : name,
      labelSelector: query.get('labelSelector') ?? '',
      fieldSelector: query.get('fieldSelector') ?? '',
    });
    const served = this.#context.registry.find(group, version, plural);
    if (served === undefined) throw noSuchPath();
    const isScopedWrong = served.kind.namespaced ? namespace === '' && name !== '' : namespace !== '';
    if (isScopedWrong) throw noSuchPath();
    const target = { served, namespace, name, subresource };
    const { access, pods } = this.#options;
    const connection = pods && served.version.connects?.find((one) => one.name === subresource);
    if (pods && connection) {
      const mayAs = (asked: string) => this.#authorize({ ...attributes, verb: asked });
      const closing = this.#closing.signal;
      return onPod({
        access: pods,
        context: this.#context,
        request,
        query,
        target,
        verb,
        connection,
        mayAs,
        closing,
        become,
      });
    }
    const outcome = access?.answer({ attributes, served, body: request.body ?? '' });
    if (outcome !== undefined) return answerOutcome(outcome);
    // Policies see the user that the request acts as.
    const admit = this.#policies.admitFor(attributes.user);
    const routing = admit ? { ...this.#routing, context: { ...this.#context, admit } } : this.#routing;
    return carryOut(routing, { request, query, target, verb, check: access?.writeCheck(attributes) });
  }

  /** Returns the question with the user that the request acts as. */
  async #allow(request: TransportRequest, asked: Attributes): Promise<Attributes> {
    const user = await actingUser(request.headers ?? {}, asked, (question) => this.#authorize(question));
    const attributes = { ...asked, user };
    const { allowed, reason } = await this.#authorize(attributes);
    if (allowed) return attributes;
    throw accessRefusal(attributes, reason);
  }

  #authorize(attributes: Attributes): Verdict | Promise<Verdict> {
    const { access, authorize = access?.authorize ?? allowEverything } = this.#options;
    return authorize(attributes);
  }

  #keep(stored: string, stream: WatchStream): void {
    if (this.#closing.signal.aborted) return stream.end();
    const streams = this.#streams.get(stored) ?? new Set();
    this.#streams.set(stored, streams);
    streams.add(stream);
    void stream.ended.then(() => streams.delete(stream));
  }

  #endWatches(stored: string): void {
    for (const stream of this.#streams.get(stored) ?? []) stream.end();
    this.#streams.delete(stored);
  }

  async #createNamespaces(): Promise<void> {
    const served = this.#context.registry.find('', 'v1', 'namespaces');
    if (served === undefined) return;
    const { store } = this.#context;
    const missing = FIRST_NAMESPACES.filter((name) => !store.get({ resource: 'namespaces', namespace: '', name }));
    const options = { dryRun: false, fieldManager: 'reeve-apiserver', fieldValidation: 'Strict' } as const;
    await Promise.all(
      missing.map((name) => {
        const target = { served, namespace: '', name: '', subresource: '' };
        return createObject(this.#context, target, JSON.stringify({ metadata: { name } }), options);
      }),
    );
  }
}

/** A list or watch of one object by its name is a request for that object: rights may be given for it alone. */
function selectedName(query: URLSearchParams): string {
  const name = exactValue(parseFieldSelector(query.get('fieldSelector') ?? ''), 'metadata.name') ?? '';
  return pathSegment(name, false).length === 0 ? name : '';
}

type Named = Pick<Extract<ApiPath, { type: 'resource' }>, 'name' | 'subresource'>;

function verbOf(method: string, { name, subresource }: Named, query: URLSearchParams): string {
  if (method === 'GET') {
    if (name !== '') return 'get';
    return flag(query, 'watch') ? 'watch' : 'list';
  }
  if (method === 'DELETE' && name === '') return 'deletecollection';
  const verb = VERBS[method];
  // An object is made in its collection, and changed by its name; some subresources are asked for by making them.
  if (verb === undefined || (verb === 'create' && subresource === '') !== (name === '')) throw methodNotAllowed();
  return verb;
}
