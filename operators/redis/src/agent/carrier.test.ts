import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RedisCommand } from '../api/commands.ts';
import type { NodeRef } from '../api/view.ts';
import { redisHandlers } from '../commands/handlers.ts';
import { carriersOf, memberOfCommand } from './carrier.ts';

const node = (id: string): NodeRef => ({ id, endpoint: { host: '10.0.0.1', port: 6379 } });
const why = 'test';
const [a, b, c] = [node('a'), node('b'), node('c')];

const table: readonly (readonly [RedisCommand, readonly string[]])[] = [
  [{ type: 'assign-slots', node: a, slots: '0-5', why }, ['a']],
  [
    {
      type: 'set-epochs',
      epochs: [
        { node: b, epoch: 1 },
        { node: a, epoch: 2 },
      ],
      why,
    },
    ['b', 'a'],
  ],
  [
    {
      type: 'meet',
      pairs: [
        { from: a, to: b, toBusPort: 1 },
        { from: a, to: c, toBusPort: 1 },
        { from: b, to: c, toBusPort: 1 },
      ],
      why,
    },
    ['a', 'b'],
  ],
  [{ type: 'replicate', replica: a, primary: b, mustBeEmpty: true, why }, ['a']],
  [{ type: 'migrate-slots', source: b, target: a, slots: '1', others: [c], engine: 'auto', pace: 'fast', why }, ['b']],
  [{ type: 'claim-slots', owner: c, slots: '1', releaseFrom: [a], others: [b], why }, ['c']],
  [{ type: 'collect-keys', from: b, owner: a, slots: '1', why }, ['b']],
  [{ type: 'close-slots', node: a, slots: '1', carriedBy: [b], why }, ['a']],
  [{ type: 'bump-epoch', node: c, epoch: 3, why }, ['c']],
  [{ type: 'forget-node', node: a, by: [c, b], reset: true, why }, ['c', 'b']],
  [{ type: 'failover', replica: b, primary: a, mode: 'force', why }, ['b']],
  [{ type: 'copy-functions', from: a, to: c, why }, ['c']],
];

test('each command goes to the agent of the node that it is about', () => {
  for (const [command, carriers] of table) {
    assert.deepEqual(carriersOf(command), carriers, command.type);
    assert.equal(memberOfCommand(command), carriers[0], command.type);
  }
  assert.deepEqual(table.map(([{ type }]) => type).sort(), redisHandlers.map(({ type }) => type).sort());
});

test('where several could do it, the first that has an agent does; a node that is forgotten never does', () => {
  const forget = table.find(([{ type }]) => type === 'forget-node')?.[0] as RedisCommand;
  assert.equal(
    memberOfCommand(forget, (id) => id !== 'c'),
    'b',
  );
  assert.equal(
    memberOfCommand(forget, (id) => id === 'a'),
    undefined,
  );
  assert.equal(memberOfCommand({ type: 'set-epochs', epochs: [], why }), undefined);
});
