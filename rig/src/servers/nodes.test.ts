import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseNodes } from './nodes.ts';

const A = 'a'.repeat(40);
const B = 'b'.repeat(40);

test('a line of CLUSTER NODES is taken apart, open slots apart from owned ones', () => {
  const [own, other] = parseNodes(
    [
      `${A} 127.0.0.1:7001@17001,host-a myself,master - 0 0 3 connected 0-10 12 [12->-${B}] [99-<-${B}]`,
      `${B} 10.0.0.2:7002@17002 slave,fail? ${A} 5 6 3 disconnected`,
      '',
    ].join('\n'),
  );
  assert.deepEqual(own?.slots, [
    [0, 10],
    [12, 12],
  ]);
  assert.deepEqual(own?.open, [
    { slot: 12, state: 'migrating', peer: B },
    { slot: 99, state: 'importing', peer: B },
  ]);
  assert.deepEqual([own?.host, own?.port, own?.epoch, own?.role, own?.myself], ['127.0.0.1', 7001, 3, 'primary', true]);
  assert.deepEqual(
    [other?.role, other?.primaryId, other?.linkUp, other?.flags],
    ['replica', A, false, ['slave', 'fail?']],
  );
});

test('an address with colons keeps them', () => {
  const [line] = parseNodes(`${A} 2001:db8::1:7001@17001 master - 0 0 1 connected`);
  assert.deepEqual([line?.host, line?.port], ['2001:db8::1', 7001]);
});
