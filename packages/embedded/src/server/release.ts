/**
 * Gives back what a start leaves behind. An idle server allocates too little for V8 to collect it: what was needed to
 * load the program would stay for good. For programs that are a server and not much else, once they are ready.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export function releaseStartMemory(): void {
  // V8 has it all the time, but shows it only in a context that is made while the flag is set. The flag must not stay:
  // the cache of compiled code is kept for one set of flags.
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: object) => void;
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
