/** The port of the API: the one that was asked for, that of the last time, or any that is free. */
import { cliError } from '../errors.ts';

interface Ports {
  readonly wished: number | undefined;
  /** Of the last time: pods that went on call it there. */
  readonly known: number | undefined;
}

/** Which one is taken if nobody wished for one is not worth an error. */
export async function listenOn<T>({ wished, known = 0 }: Ports, start: (port: number) => Promise<T>): Promise<T> {
  const port = wished ?? known;
  try {
    return await start(port);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error;
    if (wished === undefined && port !== 0) return start(0);
    const subjects = [String(port)];
    if (code === 'EADDRINUSE') throw cliError('PORT_IN_USE', `port ${port} of 127.0.0.1 is in use`, subjects);
    throw cliError('PORT_DENIED', `this user may not listen on port ${port} of 127.0.0.1`, subjects);
  }
}
