/**
 * Parts of a process that are nothing without each other, until the signal aborts. When one of them ends the others are told to stop,
 * and waited for: one that goes on alone keeps a process, and its container, that does nothing any more.
 */
export async function together(
  signal: AbortSignal,
  parts: readonly ((signal: AbortSignal) => Promise<void>)[],
): Promise<void> {
  const ending = new AbortController();
  const either = AbortSignal.any([signal, ending.signal]);
  const running = parts.map(async (part) => {
    try {
      await part(either);
    } finally {
      ending.abort();
    }
  });
  try {
    await Promise.all(running);
  } finally {
    await Promise.allSettled(running);
  }
}
