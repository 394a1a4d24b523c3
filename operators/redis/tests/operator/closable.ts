/** A port that refuses what is asked of it once it was closed, as a client of real servers does; until then it is among the open ones. */
import { ReeveError } from '@reeve/runtime';
import { readsBy, type RedisPort } from '../../src/api/port.ts';

export function closable(port: RedisPort, open: Set<RedisPort>): RedisPort {
  let isClosed = false;
  open.add(port);
  const refusal = () => Promise.reject(new ReeveError('REDIS_UNREACHABLE', 'this client was closed'));
  const call: RedisPort['call'] = (...given) => (isClosed ? refusal() : port.call(...given));
  return {
    call,
    reads: readsBy(call),
    transaction: (...given) => (isClosed ? refusal() : port.transaction(...given)),
    migrateAuth: () => port.migrateAuth(),
    async close() {
      isClosed = true;
      open.delete(port);
    },
  };
}
