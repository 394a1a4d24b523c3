/**
 * What a killed primary takes with it: writes that its replica had not received. The rule is exact. Before the kill the
 * offsets are compared: all that the primary had written to its append-only file up to a mark is known to be at the
 * replica. Only a key that the file names behind that mark may be missing, or be older, afterwards.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RedirectingClient, type Server, until } from '@reeve/rig';
import type { Member, World } from './world.ts';

/** The keys of the rounds and of the data before them, as they stand in the file: arguments are lines. */
const KEY_LINE = /\r\n((?:kept|round\d+):\d+)\r\n/g;

export class LossPermit {
  readonly #primary: Server;
  readonly #file: string;
  readonly #mark: number;

  private constructor(primary: Server, file: string, mark: number) {
    this.#primary = primary;
    this.#file = file;
    this.#mark = mark;
  }

  /** Call right before the kill. */
  static async mark(primary: Member, world: World): Promise<LossPermit> {
    const { file, text } = newest(primary.server);
    const offset = offsetIn(await replication(primary.server), 'master_repl_offset');
    const replicas = (await world.members()).filter(({ primaryId }) => primaryId === primary.id);
    for (const { server } of replicas) {
      await until('the replica has what the primary had', async () => {
        return offsetIn(await replication(server), 'slave_repl_offset') >= offset;
      });
    }
    return new LossPermit(primary.server, file, text.length);
  }

  /** Call while the killed server is down: its file is what it was. */
  keys(): ReadonlySet<string> {
    const { file, text } = newest(this.#primary);
    // The file was begun anew in between: all of it is behind the mark.
    const tail = file === this.#file ? text.slice(Math.max(0, this.#mark - 2)) : text;
    return new Set([...tail.matchAll(KEY_LINE)].map((match) => match[1] as string));
  }
}

/** The permitted keys that are really lost. What is there instead is expected from now on. */
export async function countLosses(world: World, permitted: ReadonlySet<string>): Promise<number> {
  const client = new RedirectingClient(world.endpoints, {}, 20_000);
  await client.refresh();
  let losses = 0;
  try {
    for (const key of permitted) {
      const expected = world.acknowledged.get(key);
      const now = await client.command(key, ['GET', key]);
      if (expected === undefined || now === expected) continue;
      losses++;
      if (typeof now === 'string') world.acknowledged.set(key, now);
      else world.acknowledged.delete(key);
    }
  } finally {
    client.close();
  }
  return losses;
}

/** The append-only file that the server writes to at present. */
function newest(server: Server): { readonly file: string; readonly text: string } {
  const folder = join(server.dir, 'appendonlydir');
  const number = (name: string): number => Number(/\.(\d+)\.incr\.aof$/.exec(name)?.[1] ?? -1);
  const [file] = readdirSync(folder)
    .filter((name) => number(name) >= 0)
    .sort((a, b) => number(b) - number(a));
  if (file === undefined) throw new Error(`${folder} has no append-only file`);
  return { file, text: readFileSync(join(folder, file), 'latin1') };
}

async function replication(server: Server): Promise<string> {
  return String(await server.call('INFO', 'replication'));
}

function offsetIn(info: string, field: string): number {
  const value = new RegExp(`${field}:(\\d+)`).exec(info)?.[1];
  if (value === undefined) throw new Error(`${field} is missing in INFO replication`);
  return Number(value);
}
