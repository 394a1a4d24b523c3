/** Free ports on loopback, such that port + 10000 (the cluster bus) is free, too. */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Port and bus port below the range from which systems take ports for outgoing connections; no port is the bus port of
 * another, nor of the servers that `npm start` remembers (7001 and the next).
 */
const LOWEST = 10_500;
const HIGHEST = 16_900;

/** Ports given out by this process: two servers starting at once must not get the same one. */
const given = new Set<number>();

/** Another process may still take it before its server listens: starting a server tries again with another port then. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const port = randomInt(LOWEST, HIGHEST);
    if (given.has(port)) continue;
    given.add(port);
    if (await bothFree(host, port)) return port;
  }
  throw new Error(`no free port on ${host}`);
}

async function bothFree(host: string, port: number): Promise<boolean> {
  return (await canListen(host, port)) && (await canListen(host, port + 10_000));
}

function canListen(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
