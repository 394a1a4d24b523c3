/** Two processes at one draft: in every order in which their steps on the disk can fall, a backup is whole or not there. */
import assert from 'node:assert/strict';
import * as system from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import type { BackupDraft, BackupManifest, BackupStore } from '../../api/backup.ts';
import { type FolderFiles, folderBackups } from './system-folder.ts';

const NAME = 'ns/c/one';
const SHARD = 'shard-0.rdb';
const manifestBy = (by: string) => ({ format: 1, name: NAME, by, shards: [], users: [] }) as unknown as BackupManifest;

/** Waits until it is this process' turn. */
type Turn = () => Promise<void>;

/** As `rm` does it: one after the other, whatever others do meanwhile. */
async function remove(turn: Turn, folder: string): Promise<void> {
  const entries = await system.readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await remove(turn, path);
    else await turn().then(() => system.rm(path, { force: true }));
  }
  if (entries.length > 0) await turn();
  await system.rmdir(folder).catch(() => undefined);
}

/** Without waiting for the disk: what is left when the power fails is another question. */
async function openFast(path: string, flags: string, mode?: number): Promise<system.FileHandle> {
  return Object.assign(await system.open(path, flags, mode), { sync: async () => undefined });
}

function steppedFiles(turn: Turn): FolderFiles {
  const { mkdir, readdir, rename, rmdir } = system;
  const steps: Readonly<Record<string, (...args: never[]) => Promise<unknown>>> = {
    mkdir,
    open: openFast,
    readdir,
    rename,
    rmdir,
  };
  const inTurn = Object.entries(steps).map(([name, step]) => {
    const stepInTurn = async (...args: never[]): Promise<unknown> => {
      const [, flags]: readonly unknown[] = args;
      // Opening a folder to make it durable changes nothing.
      if (flags !== 'r') await turn();
      return step(...args);
    };
    return [name, stepInTurn] as const;
  });
  const rm = (folder: string) => remove(turn, folder);
  return { ...Object.fromEntries(inTurn), rm } as unknown as FolderFiles;
}

/** A process with its way to the folder. Before it begins it is never held up. */
class Process {
  readonly store: BackupStore;
  hasEnded = false;
  ended = Promise.resolve();
  #hasBegun = false;
  #go = Promise.withResolvers<void>();
  #halted = Promise.withResolvers<void>();

  constructor(root: string, name: string) {
    let ids = 0;
    const files = steppedFiles(() => this.#turn());
    this.store = folderBackups(root, { next: (prefix) => `${prefix}-${name}-${++ids}` }, files);
  }

  /** Up to its first step, and not through it. */
  async begin(work: () => Promise<unknown>): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    promise.catch(() => undefined);
    this.ended = promise;
    this.#hasBegun = true;
    void work()
      .then(() => resolve(), reject)
      .finally(() => {
        this.hasEnded = true;
        this.#halted.resolve();
      });
    await this.#halted.promise;
  }

  /** Through one step, and up to the next. */
  async step(): Promise<void> {
    const { resolve } = this.#go;
    this.#go = Promise.withResolvers();
    this.#halted = Promise.withResolvers();
    resolve();
    await this.#halted.promise;
  }

  async #turn(): Promise<void> {
    if (!this.#hasBegun) return;
    const { promise } = this.#go;
    this.#halted.resolve();
    await promise;
  }
}

interface Scene {
  readonly root: string;
  readonly writer: Process;
  readonly draft: BackupDraft;
  readonly other: Process;
}

async function sceneIn(root: string): Promise<Scene> {
  const writer = new Process(root, 'writer');
  const draft = await writer.store.draft(NAME);
  await draft.write(SHARD, Readable.from([Buffer.from('all of it')]));
  return { root, writer, draft, other: new Process(root, 'other') };
}

/** What there is for whoever comes later, once nothing else is left. */
async function whatIsThere(root: string): Promise<string> {
  const { store } = new Process(root, 'later');
  for (const draft of await store.drafts()) await store.discard(draft);
  assert.deepEqual(await store.drafts(), []);
  const manifest = await store.manifest(NAME);
  if (!manifest) return 'nothing';
  let text = '';
  for await (const chunk of store.read(NAME, SHARD)) text += String(chunk);
  assert.equal(text, 'all of it', 'sealed as a whole');
  return `a backup by ${manifest.by}`;
}

async function folderFor(t: TestContext): Promise<string> {
  const root = await system.mkdtemp(join(tmpdir(), 'reeve-drafts-'));
  t.after(() => system.rm(root, { recursive: true }));
  return root;
}

type Take = (...processes: readonly Process[]) => Promise<void>;

/** Runs it in every order of the steps that are taken. Returns what came of it, each once. */
async function inEveryOrder(
  t: TestContext,
  run: (scene: Scene, take: Take) => Promise<string>,
): Promise<readonly string[]> {
  const ends: string[] = [];
  let choices: readonly number[] | undefined = [];
  while (choices) {
    const asked: readonly number[] = choices;
    const options: number[] = [];
    const take: Take = async (...processes) => {
      for (;;) {
        const ready = processes.filter(({ hasEnded }) => !hasEnded);
        if (ready.length === 0) break;
        const choice = asked[options.length] ?? 0;
        options.push(ready.length);
        await ready[choice]?.step();
      }
      await Promise.all(processes.map(({ ended }) => ended));
    };
    ends.push(await run(await sceneIn(await folderFor(t)), take));
    choices = following(asked, options);
  }
  t.diagnostic(`${ends.length} orders`);
  return [...new Set(ends)].sort();
}

/** The next list of choices, or undefined after the last. */
function following(choices: readonly number[], options: readonly number[]): readonly number[] | undefined {
  const taken = options.map((_count, at) => choices[at] ?? 0);
  const at = taken.findLastIndex((choice, step) => choice + 1 < (options[step] ?? 0));
  return at < 0 ? undefined : [...taken.slice(0, at), (taken[at] ?? 0) + 1];
}

const said = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    () => 'failed',
  );

test('a draft that is swept while it is sealed', async (t) => {
  const ends = await inEveryOrder(t, async ({ root, writer, draft, other }, take) => {
    const [listed] = await other.store.drafts();
    assert.ok(listed);
    let sealed = '';
    await writer.begin(async () => {
      sealed = await said(draft.seal(manifestBy('writer')));
    });
    await other.begin(() => other.store.discard(listed));
    await take(writer, other);
    return `${sealed}: ${await whatIsThere(root)}`;
  });
  assert.deepEqual(ends, ['done: a backup by writer', 'failed: nothing']);
});

test('a draft that is sealed while a successor begins the same backup', async (t) => {
  const ends = await inEveryOrder(t, async ({ root, writer, draft, other }, take) => {
    let sealed = '';
    await writer.begin(async () => {
      sealed = await said(draft.seal(manifestBy('writer')));
    });
    await other.begin(() => other.store.draft(NAME));
    await take(writer, other);
    const left = await new Process(root, 'third').store.drafts();
    assert.deepEqual(left, [{ name: NAME, id: 'draft-other-1' }], 'that of the successor');
    return `${sealed}: ${await whatIsThere(root)}`;
  });
  assert.deepEqual(ends, ['done: a backup by writer', 'failed: nothing']);
});

test('a draft that two throw away', async (t) => {
  const ends = await inEveryOrder(t, async ({ root, writer, other }, take) => {
    const [listed] = await other.store.drafts();
    assert.ok(listed);
    for (const sweeper of [writer, other]) await sweeper.begin(() => sweeper.store.discard(listed));
    await take(writer, other);
    return whatIsThere(root);
  });
  assert.deepEqual(ends, ['nothing']);
});

test('whoever dies while it throws a draft away leaves it to the next: nobody seals a part of it', async (t) => {
  for (let steps = 0, isOver = false; !isOver; steps++) {
    const { root, draft, other } = await sceneIn(await folderFor(t));
    const [listed] = await other.store.drafts();
    assert.ok(listed);
    await other.begin(() => other.store.discard(listed));
    for (let step = 0; step < steps && !other.hasEnded; step++) await other.step();
    isOver = other.hasEnded;
    const sealed = await said(draft.seal(manifestBy('writer')));
    const end = `${sealed}: ${await whatIsThere(root)}`;
    assert.equal(end, steps === 0 ? 'done: a backup by writer' : 'failed: nothing', `after ${steps} steps`);
  }
});
