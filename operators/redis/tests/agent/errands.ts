/** Orders of every kind of effect: at once, on a server's own time, in many steps. */
import type { Cluster } from '../simulation/cluster.ts';
import { keysOfSlot, slotsFrom } from '../simulation/cluster.ts';
import { type Errand, refOf } from './errand.ts';

const MOVED = '5462-5464';
const why = 'test';

function fill({ model, primaries }: Cluster): void {
  const [, source] = primaries;
  for (const slot of slotsFrom(MOVED)) {
    for (const key of keysOfSlot(slot, 2)) model.execute(refOf(source).endpoint, ['SET', key, 'value']);
  }
}

const migrate = (flavour: Errand['flavour'], engine: 'windowed' | 'atomic'): Errand => ({
  name: `migrate-${engine}`,
  flavour,
  prepare: fill,
  command: ({ primaries: [a, b, c] }) => ({
    type: 'migrate-slots',
    source: refOf(b),
    target: refOf(c),
    slots: MOVED,
    others: [refOf(a)],
    engine,
    pace: 'fast',
    why,
  }),
  isThere: ({ primaries: [, b, c] }) =>
    slotsFrom(MOVED).every(
      (slot) =>
        c?.ownerOf(slot)?.id === c?.id &&
        b?.ownerOf(slot)?.id === c?.id &&
        !b?.migrating.has(slot) &&
        !c?.importing.has(slot),
    ),
});

export const errands: readonly Errand[] = [
  {
    name: 'bump-epoch',
    flavour: 'valkey9',
    command: ({ primaries: [a] }) => ({ type: 'bump-epoch', node: refOf(a), epoch: 1, why }),
    isThere: ({ primaries: [a] }) => a?.self.configEpoch !== 1,
  },
  {
    name: 'failover',
    flavour: 'valkey9',
    command: ({ primaries: [a], replicas: [r] }) => ({
      type: 'failover',
      replica: refOf(r),
      primary: refOf(a),
      mode: 'graceful',
      why,
    }),
    isThere: ({ replicas: [r] }) => r?.isPrimary === true,
  },
  migrate('redis7', 'windowed'),
  migrate('valkey9', 'atomic'),
];
