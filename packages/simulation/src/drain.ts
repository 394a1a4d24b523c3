/**
 * Calls `step` again and again until it answers false; before each call everything that the last one set free
 * (promises, next ticks) has run to its end. This is the one place with a real timer of the host: setImmediate is the
 * only way to know that the microtask queue is empty. Many are queued at once because node empties that queue
 * between any two of them, and one turn of the event loop for each would cost several times more.
 */
export function drive(step: () => boolean): Promise<void> {
  const BATCH = 64;
  return new Promise((resolve, reject) => {
    let goesOn = true;
    let failure: { error: unknown } | undefined;
    const turn = () => {
      if (!goesOn) return;
      try {
        goesOn = step();
      } catch (error) {
        goesOn = false;
        failure = { error };
      }
    };
    const batch = () => {
      for (let i = 0; i < BATCH; i++) setImmediate(turn);
      setImmediate(() => {
        if (goesOn) batch();
        else if (failure) reject(failure.error);
        else resolve();
      });
    };
    batch();
  });
}
