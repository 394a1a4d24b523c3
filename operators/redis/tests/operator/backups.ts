/** Backups of modelled servers: snapshots in the servers' own format, and a store in memory that outlives operators. */
import type { RedisClusterModel } from '@reeve/simulation/redis';
import type {
  BackupDraft,
  BackupManifest,
  BackupName,
  BackupStore,
  DraftName,
  SnapshotSource,
} from '../../src/api/backup.ts';
import { formatEndpoint } from '../../src/api/view.ts';
import { Crc64 } from '../../src/client/rdb/crc64.ts';

export class MemoryBackups implements BackupStore {
  readonly sealed = new Map<BackupName, BackupManifest>();
  readonly #files = new Map<string, Buffer>();
  /** One of each backup at most: what others write goes nowhere. */
  readonly #open = new Map<number, BackupName>();
  #drafts = 0;

  async manifest(name: BackupName): Promise<BackupManifest | undefined> {
    return this.sealed.get(name);
  }

  read(name: BackupName, file: string): AsyncGenerator<Buffer> {
    return inOnePiece(this.#files.get(`${name}/${file}`), file);
  }

  async draft(name: BackupName): Promise<BackupDraft> {
    const id = ++this.#drafts;
    const files = new Map<string, Buffer>();
    for (const [other, of] of this.#open) if (of === name) this.#open.delete(other);
    this.#open.set(id, name);
    return {
      write: async (file, bytes) => {
        const chunks: Buffer[] = [];
        for await (const chunk of bytes) chunks.push(chunk);
        files.set(file, Buffer.concat(chunks));
      },
      read: (file) => inOnePiece(files.get(file), file),
      seal: async (manifest) => {
        if (this.sealed.has(name) || !this.#open.has(id))
          throw new Error('another one is there, or this was thrown away');
        for (const [file, bytes] of files) this.#files.set(`${name}/${file}`, bytes);
        this.sealed.set(name, manifest);
        this.#open.delete(id);
      },
      discard: async () => {
        files.clear();
        this.#open.delete(id);
      },
    };
  }

  async drafts(): Promise<readonly DraftName[]> {
    return [...this.#open].map(([id, name]) => ({ name, id: String(id) }));
  }

  async discard({ id }: DraftName): Promise<void> {
    this.#open.delete(Number(id));
  }

  /** As a disk that lost a bit. Returns what makes it good again. */
  damage(name: BackupName, file: string): () => void {
    const whole = this.#files.get(`${name}/${file}`) ?? Buffer.alloc(0);
    const bytes = Buffer.from(whole);
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
    this.#files.set(`${name}/${file}`, bytes);
    return () => void this.#files.set(`${name}/${file}`, whole);
  }
}

async function* inOnePiece(bytes: Buffer | undefined, name: string): AsyncGenerator<Buffer> {
  if (!bytes) throw new Error(`there is no ${name}`);
  yield bytes;
}

/** The store as a process sees it that may die with every write: half of them when it is done. */
export function mortalStore(store: BackupStore, survives: () => boolean): BackupStore {
  let deaths = 0;
  const effect = async <T>(work: () => Promise<T>): Promise<T> => {
    if (survives()) return work();
    if (deaths++ % 2 === 0) await work();
    return new Promise(() => undefined);
  };
  return {
    manifest: (name) => store.manifest(name),
    read: (name, file) => store.read(name, file),
    drafts: () => store.drafts(),
    discard: (draft) => effect(() => store.discard(draft)),
    async draft(name) {
      const draft = await effect(() => store.draft(name));
      return {
        read: (file) => draft.read(file),
        write: (file, bytes) => effect(() => draft.write(file, bytes)),
        seal: (manifest) => effect(() => draft.seal(manifest)),
        discard: () => effect(() => draft.discard()),
      };
    },
  };
}

const STRING = 0;
const EXPIRES_MS = 252;
const SELECT = 254;
const END = 255;

/** A length in five bytes, and so many bytes. */
function text(value: string): Buffer {
  const length = Buffer.alloc(5, 0x80);
  length.writeUInt32BE(value.length, 1);
  return Buffer.concat([length, Buffer.from(value, 'latin1')]);
}

function time(at: number): Buffer {
  const bytes = Buffer.alloc(9, EXPIRES_MS);
  bytes.writeBigInt64LE(BigInt(at), 1);
  return bytes;
}

export function modelSnapshots(model: RedisClusterModel): SnapshotSource {
  return {
    async *snapshot(endpoint) {
      const server = model.serverAt(formatEndpoint(endpoint));
      const parts: Buffer[] = [Buffer.from('VALKEY080'), Buffer.from([SELECT, 0])];
      for (const [key, { value, expireAt }] of server.database(0).entries()) {
        if (expireAt !== undefined) parts.push(time(expireAt));
        parts.push(Buffer.from([STRING]), text(key), text(value));
      }
      const body = Buffer.concat([...parts, Buffer.from([END])]);
      yield body;
      yield new Crc64().update(body).bytes();
    },
  };
}
