import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { LOGBACK, startScript, tellAddress } from './cassandra-start.ts';

const run = promisify(execFile);
const SCRIPT = startScript({ yaml: ['commitlog_sync: periodic'], heap: '256m', options: [], daemon: 'Daemon' });

test('a configuration that was written for one address is written anew for the next, and one of a person is not', async (t) => {
  const data = await mkdtemp(join(tmpdir(), 'reeve-cassandra-'));
  t.after(() => rm(data, { recursive: true }));
  const file = join(data, 'conf', 'cassandra.yaml');
  const startAt = async (address: string): Promise<string> => {
    const told = tellAddress(address).env;
    const env = { PATH: process.env.PATH, CASSANDRA_DATA: data, REEVE_CASSANDRA_LOGBACK: LOGBACK, ...told };
    await run('/bin/sh', ['-c', SCRIPT, 'cassandra', 'true'], { env });
    return readFile(file, 'utf8');
  };
  for (const address of ['127.1.0.1', '127.1.0.2']) {
    const text = await startAt(address);
    for (const line of [`listen_address: ${address}`, `rpc_address: ${address}`, `seeds: "${address}"`])
      assert.ok(text.includes(line), text);
  }
  const own = 'listen_address: localhost\n';
  await writeFile(file, own);
  assert.equal(await startAt('127.1.0.3'), own);
});
