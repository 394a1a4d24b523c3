/**
 * Parts of a process that are nothing without each other, until the signal aborts. When one of them fails the others are told to stop,
 * and waited for: one that goes on alone keeps a process, and its container, that does nothing any more.
 */
export async function together(
  signal: AbortSignal,
  parts: readonly ((signal: AbortSignal) => Promise<void>)[],
): Promise<void> {
  const failure = new AbortController();
  const either = AbortSignal.any([signal, failure.signal]);
  const running = parts.map((part) => part(either));
  try {
    await Promise.all(running);
  } finally {
    failure.abort();
    await Promise.allSettled(running);
  }
}
