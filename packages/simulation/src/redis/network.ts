/** Who can reach whom. */
import type { ModelServer } from './server.ts';

export class Network {
  readonly servers: ModelServer[] = [];
  /** By port, then by host: asked thousands of times a run, so no text is built for it. */
  readonly #byAddress = new Map<number, Map<string, ModelServer>>();
  readonly #cut = new Set<string>();

  add(server: ModelServer): void {
    this.servers.push(server);
    this.#listen(server);
  }

  /** The server that listens at an address, whatever state its process is in. */
  at(host: string, port: number): ModelServer | undefined {
    return this.#byAddress.get(port)?.get(host);
  }

  atEndpoint(endpoint: string): ModelServer | undefined {
    const colon = endpoint.lastIndexOf(':');
    return this.at(endpoint.slice(0, colon), Number(endpoint.slice(colon + 1)));
  }

  move(server: ModelServer, host: string, port: number): void {
    if (this.at(server.host, server.port) === server) this.#byAddress.get(server.port)?.delete(server.host);
    server.host = host;
    server.port = port;
    this.#listen(server);
  }

  #listen(server: ModelServer): void {
    const hosts = this.#byAddress.get(server.port) ?? new Map<string, ModelServer>();
    this.#byAddress.set(server.port, hosts.set(server.host, server));
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
