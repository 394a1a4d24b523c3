/**
 * The place of an agent on this machine: a socket with an abstract name, which only one process of a network namespace can have, and which
 * nobody has any more when that process is gone, however it ended. The boot and the namespace tell places apart.
 */
import { readFile, readlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { digest } from '@reeve/runtime';
import type { TakePlace } from './place.ts';

export const systemPlace: TakePlace = async (member) => {
  const boot = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
  const network = await readlink('/proc/self/ns/net');
  const id = digest({ boot, network });
  return (await lock(`\0reeve-agent ${digest(member)}`)) ? { id } : undefined;
};

function lock(name: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    });
    server.listen({ path: name }, () => {
      server.unref(); // it ends with the process, and keeps none alive
      resolve(true);
    });
  });
}
