import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDatagramListeners, parseListeners, parsePortRange } from './listeners.ts';

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

test('datagrams: who waits for anybody’s counts, unless the kernel gave it its port', () => {
  const text = [
    HEAD,
    line('00000000:0035', '07', 1),
    line('0100007F:0036', '07', 2),
    line('00000000:0037', '01', 3), // it talks to one partner
    line('00000000:9C40', '07', 4), // 40000
    line('00000000000000000000000000000000:14E9', '07', 5),
  ].join('');
  const listeners = parseDatagramListeners(text, parsePortRange('32768\t60999\n'));
  assert.deepEqual(
    listeners.map(({ protocol, port, isWildcard, inode }) => [protocol, port, isWildcard, inode]),
    [
      ['udp', 53, true, '1'],
      ['udp', 54, false, '2'],
      ['udp', 5353, true, '5'],
    ],
  );
});
