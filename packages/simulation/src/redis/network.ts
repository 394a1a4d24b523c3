/** Who can reach whom. */
import type { ModelServer } from './server.ts';

export class Network {
  readonly servers: ModelServer[] = [];
  readonly #byAddress = new Map<string, ModelServer>();
  readonly #cut = new Set<string>();

  add(server: ModelServer): void {
    this.servers.push(server);
    this.#byAddress.set(server.endpoint, server);
  }

  /** The server that listens at an address, whatever state its process is in. */
  at(host: string, port: number): ModelServer | undefined {
    return this.#byAddress.get(`${host}:${port}`);
  }

  atEndpoint(endpoint: string): ModelServer | undefined {
    return this.#byAddress.get(endpoint);
  }

  move(server: ModelServer, host: string, port: number): void {
    if (this.#byAddress.get(server.endpoint) === server) this.#byAddress.delete(server.endpoint);
    server.host = host;
    server.port = port;
    this.#byAddress.set(server.endpoint, server);
  }

  #pair(a: ModelServer, b: ModelServer): string {
    const [first, second] = [this.servers.indexOf(a), this.servers.indexOf(b)].sort((x, y) => x - y);
    return `${first}-${second}`;
  }

  cut(a: ModelServer, b: ModelServer): void {
    this.#cut.add(this.#pair(a, b));
  }

  heal(): void {
    this.#cut.clear();
  }

  /** Both processes run and no cut lies between them. */
  connected(a: ModelServer, b: ModelServer): boolean {
    if (a.process !== 'up' || b.process !== 'up') return false;
    return this.#cut.size === 0 || !this.#cut.has(this.#pair(a, b));
  }
}
