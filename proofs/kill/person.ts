/**
 * The person whom KEY_CONFLICT asks for. When a source dies in the middle of a move, its replica may not have heard that
 * a key is gone: the heir brings the old copy back, clients write to it, and the target holds one that clients wrote to
 * before. The tool decides nothing and says so. Here the client's own memory decides, as its remedy tells a person to:
 * the copy with the last acknowledged value stays, the other is deleted on its node.
 */
import type { Server } from '@reeve/rig';
import { address } from './tool.ts';
import type { World } from './world.ts';

const CONFLICT = /keys differ between \w+ at (\S+) and \w+ at (\S+) and stay on both: (.+?); the slot is left open/g;
const KEY = /"([^"]+)"/g;

/** The number of keys decided; throws when neither copy is the last acknowledged one. */
export async function decideConflicts(said: string, world: World): Promise<number> {
  let decided = 0;
  for (const [, source = '', target = '', keys = ''] of said.matchAll(CONFLICT)) {
    for (const [, key = ''] of keys.matchAll(KEY)) {
      await decide(key, serverAt(source, world), serverAt(target, world), world.acknowledged.get(key));
      decided++;
    }
  }
  return decided;
}

async function decide(key: string, source: Server, target: Server, expected: string | undefined): Promise<void> {
  const ofSource = await source.call('GET', key);
  const ofTarget = await asking(target, 'GET', key);
  if (ofSource === expected) await asking(target, 'DEL', key);
  else if (ofTarget === expected) await source.call('DEL', key);
  else
    throw new Error(`${key} should be ${expected}; the source has ${String(ofSource)}, the target ${String(ofTarget)}`);
}

/** A command about a slot that the server imports. */
async function asking(server: Server, ...command: readonly string[]): Promise<unknown> {
  const [, reply] = await Promise.all([server.call('ASKING'), server.call(...command)]);
  return reply;
}

function serverAt(where: string, world: World): Server {
  const server = world.cluster.servers.find(({ endpoint }) => address(endpoint) === where);
  if (!server) throw new Error(`no server at ${where}`);
  return server;
}
