/**
 * One at a time on this machine, for work that is too dear to be done twice at once. The lock is a listening socket in Linux's
 * abstract namespace: the kernel lets go of it when its holder ends, however it ends, so that nothing stale can be left.
 */
import { createHash } from 'node:crypto';
import { connect, createServer, type Socket } from 'node:net';

/** Runs `work` while no other process of this user runs work of the same name; `onWait` is called once if it has to wait. */
export async function exclusively<T>(name: string, work: () => Promise<T>, onWait: () => void): Promise<T> {
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 24);
  const address = `\0reeve-rig-${process.getuid?.() ?? 0}-${digest}`;
  for (let isFirst = true; ; isFirst = false) {
    const release = await tryToHold(address);
    if (release) {
      try {
        return await work();
      } finally {
        release();
      }
    }
    if (isFirst) onWait();
    await untilLetGo(address);
  }
}

/** What lets go of it, or undefined when another holds it. */
function tryToHold(address: string): Promise<(() => void) | undefined> {
  const waiting = new Set<Socket>();
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => {
      waiting.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => waiting.delete(socket));
    });
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error),
    );
    server.listen(address, () =>
      resolve(() => {
        server.close();
        for (const socket of waiting) socket.destroy();
      }),
    );
  });
}

/** A connection to the holder lasts as long as the holder does. */
function untilLetGo(address: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(address);
    socket.resume();
    // Refused or reset: it is gone already.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => resolve());
  });
}
