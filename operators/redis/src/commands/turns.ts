/**
 * Migrations that share a server take turns at it. What clients of a target feel is the sum of all that move slots to
 * it: three sources that each press it gently do not press it gently together.
 */

interface Waiting {
  readonly servers: readonly string[];
  readonly begin: () => void;
}

export class Turns {
  readonly #busy = new Set<string>();
  readonly #waiting: Waiting[] = [];

  /** Runs the work when no other work is at one of the servers. First come, first served, as far as servers are free. */
  async take<T>(servers: readonly string[], work: () => Promise<T>): Promise<T> {
    if (this.#areFree(servers)) this.#occupy(servers);
    else await new Promise<void>((begin) => this.#waiting.push({ servers, begin }));
    try {
      return await work();
    } finally {
      for (const server of servers) this.#busy.delete(server);
      this.#next();
    }
  }

  #areFree(servers: readonly string[]): boolean {
    return !servers.some((server) => this.#busy.has(server));
  }

  #occupy(servers: readonly string[]): void {
    for (const server of servers) this.#busy.add(server);
  }

  /** Servers that somebody waits for are kept free for him: without that, two pairs could pass a third by for ever. */
  #next(): void {
    const claimed = new Set<string>();
    for (const waiting of [...this.#waiting]) {
      const mayBegin = this.#areFree(waiting.servers) && !waiting.servers.some((server) => claimed.has(server));
      if (mayBegin) {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        this.#occupy(waiting.servers);
        waiting.begin();
      } else for (const server of waiting.servers) claimed.add(server);
    }
  }
}
