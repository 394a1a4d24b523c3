import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '@reeve/rig';
import { attack } from './attack.ts';
import { HostedServer } from './server.ts';

test('hostile requests get the right answer with a Status, in bounded time and memory, and the next is served', async () => {
  await using server = await HostedServer.start(8);
  server.idle(1_000);
  await until('a thousand connections', () => server.idleConnections >= 1_000);
  const { problems, valid, hostile } = await attack(server, { requests: 1_500, lanes: 8, random: Math.random });
  assert.deepEqual(problems, []);
  assert.ok(valid > 500 && hostile > 500, `${valid} valid, ${hostile} hostile`);
  assert.ok(server.memory().peak < 700, `${server.memory().peak} MB`);
});
