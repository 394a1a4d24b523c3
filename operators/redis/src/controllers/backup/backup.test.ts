import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BackupStore, SnapshotSource } from '../../api/backup.ts';
import { scriptedPort, serverWith, valkeyAnswers } from '../../observe/scripted.ts';
import type { Environment } from '../environment.ts';
import { backupProcedure } from './backup.ts';

const NODES = `${'a'.repeat(40)} 10.0.0.1:1@2 myself,master - 0 0 1 connected 0-16383\n`;
/** Its beginning, its end, and no checksum. */
const EMPTY = Buffer.concat([Buffer.from('VALKEY080'), Buffer.from([255]), Buffer.alloc(8)]);

/** A cluster of one server, each look at which is told, and a store that notes what is done with it. */
function scene(looked: (look: number) => void) {
  const done: string[] = [];
  let looks = 0;
  const server = serverWith({
    ...valkeyAnswers(NODES),
    'CLUSTER NODES': () => {
      looked(++looks);
      return NODES;
    },
  });
  const files = new Map<string, Buffer[]>();
  const store: BackupStore = {
    manifest: async () => undefined,
    read: () => assert.fail('nothing is restored'),
    drafts: async () => [],
    discard: async () => undefined,
    draft: async () => {
      done.push('draft');
      return {
        write: async (file, bytes) => {
          const chunks: Buffer[] = [];
          for await (const chunk of bytes) chunks.push(chunk);
          files.set(file, chunks);
        },
        read: async function* (file) {
          yield* files.get(file) ?? [];
        },
        seal: async () => void done.push('seal'),
        discard: async () => void done.push('discard'),
      };
    },
  };
  const snapshots: SnapshotSource = {
    snapshot: async function* () {
      yield EMPTY;
    },
  };
  const run = (signal: AbortSignal) =>
    backupProcedure.run({ name: 'ns/c/one', by: 'uid', users: [] }, {
      redis: scriptedPort({ '10.0.0.1:1': server }),
      ports: { clock: { now: () => 0, sleep: async () => undefined } },
      seeds: [{ host: '10.0.0.1', port: 1 }],
      backups: { store, snapshots },
      signal,
    } as unknown as Environment);
  return { done, run };
}

test('a backup is sealed when all was taken and nothing moved meanwhile', async () => {
  const { done, run } = scene(() => undefined);
  const { signal } = new AbortController();
  assert.deepEqual(await run(signal), { outcome: 'done', message: `1 shards, 0 keys, ${EMPTY.length} bytes` });
  assert.deepEqual(done, ['draft', 'seal']);
});

test('one that was stopped is not sealed, however late the word comes', async () => {
  const stop = new AbortController();
  const { done, run } = scene((look) => {
    if (look === 2) stop.abort(new Error('its task is gone'));
  });
  await assert.rejects(() => run(stop.signal), /its task is gone/);
  assert.deepEqual(done, ['draft', 'discard']);
  // Nor does it begin: its draft would take the place of a successor's.
  done.splice(0);
  await assert.rejects(() => run(stop.signal), /its task is gone/);
  assert.deepEqual(done, []);
});
