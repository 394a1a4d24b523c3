/** What a round opens and must have closed when it is over. */
import type { Endings } from '@reeve/runtime/testing/real';

/** Does at its end, last first, what was asked for. */
export class Scope implements Endings, AsyncDisposable {
  readonly #works: (() => Promise<void>)[] = [];

  after(work: () => Promise<void>): void {
    this.#works.push(work);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const work of this.#works.splice(0).reverse()) await work();
  }
}

/**
 * What keeps this process busy: sockets, listeners, timers, processes. Sorted, so that two looks can be compared. Not pipes: our own
 * output is one from the first word on, and those of other processes end with them.
 */
export function openThings(): readonly string[] {
  return process
    .getActiveResourcesInfo()
    .filter((one) => /TCP|TLS|Timeout|Immediate|Process|FSReq|HTTP/i.test(one))
    .sort();
}

/** What is open now and was not before. */
export function leftOpen(before: readonly string[]): readonly string[] {
  const known = [...before];
  return openThings().filter((one) => {
    const at = known.indexOf(one);
    if (at >= 0) known.splice(at, 1);
    return at < 0;
  });
}
