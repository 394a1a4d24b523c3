import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settled } from '@reeve/runtime/testing';
import type { DraftName } from '../../api/backup.ts';
import { DraftSweep } from './draft-sweep.ts';

const draft = (name: string, id = 'draft-1'): DraftName => ({ name, id });
const at = (kind: string, name: string) => ({ status: { currentOperation: { kind, goal: { name } } } });

function scene(drafts: readonly DraftName[], clusters: Readonly<Record<string, object>>) {
  const done: string[] = [];
  let fails = false;
  const store = {
    drafts: async () => {
      done.push('list');
      if (fails) throw new Error('the disk is away');
      return drafts;
    },
    discard: async ({ name, id }: DraftName) => void done.push(`discard ${name} ${id}`),
  };
  const api = {
    resource: (_kind: unknown, namespace: string) => ({
      find: async (cluster: string) => {
        done.push(`read ${namespace}/${cluster}`);
        return clusters[`${namespace}/${cluster}`];
      },
    }),
  };
  const fail = (yes: boolean) => {
    fails = yes;
  };
  return { done, fail, sweep: new DraftSweep(store, api as never) };
}

test('drafts of which no cluster makes a backup are thrown away, each after a live read', async () => {
  const drafts = [draft('ns/c/now'), draft('ns/c/then'), draft('ns/gone/x'), draft('ns/d/x')];
  const { done, sweep } = scene(drafts, { 'ns/c': at('backup', 'ns/c/now'), 'ns/d': at('restore', 'ns/d/x') });
  sweep.start();
  await settled();
  assert.deepEqual(done, [
    'list',
    'read ns/c',
    'read ns/c',
    'discard ns/c/then draft-1',
    'read ns/gone',
    'discard ns/gone/x draft-1',
    'read ns/d',
    'discard ns/d/x draft-1',
  ]);
});

test('once, again when a backup was given up, and again when it failed; never after its end', async () => {
  const { done, fail, sweep } = scene([], {});
  sweep.start();
  await settled();
  sweep.start();
  await settled();
  assert.equal(done.length, 1);
  fail(true);
  sweep.due();
  sweep.start();
  await settled();
  fail(false);
  sweep.start();
  await settled();
  assert.equal(done.length, 3);
  sweep.start();
  await sweep[Symbol.asyncDispose]();
  sweep.due();
  sweep.start();
  await settled();
  assert.equal(done.length, 3);
});
