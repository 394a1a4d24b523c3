/** A backup that is taken while clients write, restored into a new cluster of another size, and compared key by key. */
import assert from 'node:assert/strict';
import { type Access, connect, type Endpoint, RedirectingClient } from '@reeve/rig';
import type { Stage, Step } from './stage.ts';

const ENDS = String(Date.parse('2040-01-01T00:00:00Z'));

/** A value of each kind, some that end one day. */
const SPECIMENS: readonly (readonly [string, string, ...string[]])[] = [
  ['SET', 'kept:text', 'text', 'PXAT', ENDS],
  ['RPUSH', 'kept:list', ...Array.from({ length: 500 }, (_, index) => `item ${index}`)],
  ['ZADD', 'kept:scores', '1.5', 'a', '2.5', 'b'],
  ['HSET', 'kept:fields', 'a', '1', 'b', '2'],
  ['SADD', 'kept:numbers', '1', '2', '3'],
  ['XADD', 'kept:stream', '1-1', 'field', 'value'],
  ['SETBIT', 'kept:bits', '4000', '1'],
  ['PEXPIREAT', 'kept:scores', ENDS],
];
const SPECIMEN_KEYS = [...new Set(SPECIMENS.map(([, key]) => key))];
const COPY_PRIMARIES = 4;

/** Of a write: the later, the larger. */
const numberOf = (value: unknown): number => (typeof value === 'string' ? Number.parseInt(value, 10) : 0);

/** What is in any of its servers. */
async function keysOf(endpoints: readonly Endpoint[], access: Access): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const endpoint of endpoints) {
    const connection = await connect(endpoint, access);
    let cursor = '0';
    do {
      const [next, keys] = (await connection.call('SCAN', cursor, 'COUNT', 1_000)) as [string, string[]];
      for (const key of keys) found.add(key);
      cursor = next;
    } while (cursor !== '0');
    connection.close();
  }
  return found;
}

/** Exact bytes, and when they end. */
const about = (client: RedirectingClient): Promise<readonly unknown[]> =>
  Promise.all(
    SPECIMEN_KEYS.map(async (key) => [
      key,
      await client.command(key, ['DUMP', key]),
      await client.command(key, ['PEXPIRETIME', key]),
    ]),
  );

async function compare(
  stage: Stage,
  copy: string,
  before: { readonly keys: ReadonlySet<string>; readonly written: ReadonlyMap<string, string> },
): Promise<void> {
  const { site, subject } = stage;
  const here = await subject.client();
  const [endpoints, access] = [await site.endpoints(copy), await site.access(copy)];
  const there = new RedirectingClient(endpoints, access, 30_000);
  await there.refresh();
  try {
    const restored = await keysOf(endpoints, access);
    const missing = [...before.keys].filter((key) => !restored.has(key));
    assert.deepEqual(missing, [], 'every key that was there when the backup began is in the copy');
    const now = await keysOf(await subject.endpoints(), await subject.access());
    assert.deepEqual(
      [...restored].filter((key) => !now.has(key)),
      [],
      'the copy has nothing that was never there',
    );
    assert.deepEqual(await about(there), await about(here));
    // What nobody has written to since the steps before is the same to the letter.
    for (const [key, value] of subject.journal.expected) {
      assert.equal(await there.command(key, ['GET', key]), value, key);
    }
    // What is written to all the time is of some moment of the backup.
    for (const [key, value] of before.written) {
      const copied = numberOf(await there.command(key, ['GET', key]));
      const newest = numberOf(stage.written.get(key));
      assert.ok(
        numberOf(value) <= copied && copied <= newest,
        `${key}: write ${copied} is in the copy; ${numberOf(value)} was acknowledged before the backup, ${newest} by now`,
      );
    }
  } finally {
    here.close();
    there.close();
  }
}

export const backupStep: Step = {
  name: 'backup while clients write, restored into a new cluster of another size, compared key by key; not twice',
  async run(stage) {
    const { site, subject } = stage;
    const client = await subject.client();
    for (const words of SPECIMENS) await client.command(words[1], words);
    client.close();
    const keys = await keysOf(await subject.endpoints(), await subject.access());
    const before = { keys, written: new Map(stage.written) };
    const save = stage.newName('save');
    assert.match(await stage.done('task', { backup: { name: save } }), /^3 shards, \d+ keys/);
    const copy = stage.newName('copy');
    const size = { primaries: COPY_PRIMARIES, replicasPerPrimary: 0 };
    await site.declare(copy, { ...subject.copySpec, ...size, deletionPolicy: 'Delete' });
    await site.settled(
      copy,
      'the copy runs',
      ({ primaries, slots }) => primaries === COPY_PRIMARIES && slots === 16_384,
    );
    const restore = { cluster: copy, restore: { cluster: subject.name, name: save } };
    await stage.done('load', restore);
    await compare(stage, copy, before);
    assert.deepEqual(await site.judge(copy, subject.journal.expected, 0), []);
    const refused = await stage.ended('load', restore);
    assert.equal(refused.code, 'RESTORE_NOT_EMPTY', JSON.stringify(refused));
    await site.remove(copy);
  },
};
