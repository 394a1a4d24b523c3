/** `npm start` as a new user meets it: a cluster comes up, is shown, ends; the next start finds it again with its data. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { run, temporaryFolder } from './index.ts';

const START = fileURLToPath(new URL('./start.ts', import.meta.url));

test('npm start makes a cluster, shows it and says how to go on; the next start brings the same one back', async () => {
  const data = join(temporaryFolder('start'), 'data');
  const once = () => run(process.execPath, [START, '--once', '--data', data], { timeoutMs: 120_000 });
  const first = await once();
  assert.equal(first.code, 0, first.stdout + first.stderr);
  assert.match(first.stdout, /create: done\./);
  assert.match(first.stdout, /16,384 of 16,384 slots, 3 primaries, 3 replicas/);
  const { ports } = JSON.parse(readFileSync(join(data, 'cluster.json'), 'utf8')) as { ports: number[] };
  assert.match(
    first.stdout,
    new RegExp(`node bin/reeve.js redis add-node 127\\.0\\.0\\.1:${ports[0]} --node 127\\.0\\.0\\.1:${ports[6]}`),
  );
  const second = await once();
  assert.equal(second.code, 0, second.stdout + second.stderr);
  assert.match(second.stdout, /Starting again/);
  assert.doesNotMatch(second.stdout, /create/);
  assert.deepEqual(idsIn(second.stdout), idsIn(first.stdout), 'the same nodes');
});

function idsIn(text: string): readonly string[] {
  return [...text.matchAll(/^([0-9a-f]{8}) +127\.0\.0\.1:\d+ +(?:primary|replica)/gm)]
    .map((match) => match[1] as string)
    .sort();
}
