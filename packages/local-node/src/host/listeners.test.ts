import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseListeners } from './listeners.ts';

const HEAD = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n';
const line = (local: string, state: string, inode: number) =>
  `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000  1000        0 ${inode} 1 0000 100 0 0 10 0\n`;

test('listening sockets, and which of them take the port on all addresses', () => {
  const text = [
    HEAD,
    line('0100007F:1F90', '0A', 1),
    line('00000000:1F91', '0A', 2),
    line('00000000:1F92', '01', 3), // a connection
    line('00000000000000000000000000000000:18EB', '0A', 4),
    line('0000000000000000FFFF000000000000:18EC', '0A', 5),
    line('00000000000000000000000001000000:18ED', '0A', 6),
  ].join('');
  assert.deepEqual(
    parseListeners(text).map(({ port, isWildcard, inode }) => [port, isWildcard, inode]),
    [
      [8080, false, '1'],
      [8081, true, '2'],
      [6379, true, '4'],
      [6380, true, '5'],
      [6381, false, '6'],
    ],
  );
  assert.deepEqual(parseListeners(HEAD), []);
});
