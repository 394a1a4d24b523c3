/** The client: a transport, and what is common to all calls. */
import type { Json } from '../json/parse.ts';
import type { KubeObject } from '../object/object.ts';
import type { Resource } from '../object/resource.ts';
import { Caller, type CallerOptions, type Streamed } from './caller.ts';
import type { CallOptions } from './options.ts';
import { ResourceClient } from './resource-client.ts';

export interface ClientOptions extends CallerOptions {
  /** In whose name fields are owned when a call does not say. Default `reeve`. */
  readonly fieldManager?: string;
}

export interface StreamOptions extends CallOptions {
  readonly method?: 'GET' | 'POST';
}

export class KubeClient {
  readonly #caller: Caller;
  readonly #fieldManager: string;

  constructor(options: ClientOptions) {
    this.#caller = new Caller(options);
    this.#fieldManager = options.fieldManager ?? 'reeve';
  }

  /** Cheap: nothing is sent and nothing kept. Without a namespace: all of them, to list and to watch. */
  resource<T extends KubeObject>(resource: Resource<T>, namespace?: string): ResourceClient<T> {
    return new ResourceClient(resource, namespace, this.#caller, this.#fieldManager);
  }

  /** Reads any path that answers with JSON: `/version`, `/apis`. */
  read(path: string, options: CallOptions & { readonly accept?: string } = {}): Promise<Json> {
    const { signal, accept = 'application/json' } = options;
    return this.#caller.call({ method: 'GET', path, headers: { accept }, ...(signal ? { signal } : {}) });
  }

  /** The bytes of an answer as they come: logs, which may go on for as long as the server likes. Dispose of it to leave. */
  stream(path: string, options: StreamOptions = {}): Promise<Streamed> {
    const { signal, method = 'GET' } = options;
    return this.#caller.stream({ method, path, headers: { accept: '*/*' }, ...(signal ? { signal } : {}) });
  }
}
