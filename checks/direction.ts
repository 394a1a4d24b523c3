/**
 * Dependency direction is the architecture (docs/DESIGN.md, "The house"): who may import whom, packages and the rooms
 * of an operator. Tests may also use the simulation, the rig and the embedded server.
 */
import { posix } from 'node:path';
import { importsOf, isTest, isTypeScript, type SourceFile } from './lib/source.ts';

/** Workspace folder → the workspaces it may import. Longest matching folder counts. */
const packages: Readonly<Record<string, { readonly name: string; readonly may: readonly string[] }>> = {
  'packages/kube': { name: '@reeve/kube', may: [] },
  'packages/embedded': { name: '@reeve/embedded', may: ['@reeve/kube'] },
  'packages/runtime': { name: '@reeve/runtime', may: ['@reeve/kube'] },
  'packages/local-node': { name: '@reeve/local-node', may: ['@reeve/kube', '@reeve/runtime'] },
  'packages/simulation': { name: '@reeve/simulation', may: ['@reeve/kube', '@reeve/embedded', '@reeve/runtime'] },
  'operators/redis': { name: '@reeve/redis', may: ['@reeve/kube', '@reeve/runtime'] },
  'apps/cli': {
    name: '@reeve/cli',
    may: ['@reeve/kube', '@reeve/embedded', '@reeve/local-node', '@reeve/runtime', '@reeve/redis'],
  },
  rig: { name: '@reeve/rig', may: ['@reeve/runtime', '@reeve/redis'] },
  bench: {
    name: '@reeve/bench',
    may: ['@reeve/kube', '@reeve/embedded', '@reeve/runtime', '@reeve/redis', '@reeve/simulation', '@reeve/rig'],
  },
  proofs: {
    name: 'proofs',
    may: [
      '@reeve/kube',
      '@reeve/embedded',
      '@reeve/runtime',
      '@reeve/redis',
      '@reeve/simulation',
      '@reeve/rig',
      '@reeve/cli',
    ],
  },
  conformance: { name: 'conformance', may: ['@reeve/kube', '@reeve/embedded', '@reeve/rig'] },
  checks: {
    name: 'checks',
    may: ['@reeve/kube', '@reeve/embedded', '@reeve/runtime', '@reeve/local-node', '@reeve/redis', '@reeve/cli'],
  },
  examples: {
    name: 'examples',
    may: ['@reeve/kube', '@reeve/embedded', '@reeve/runtime', '@reeve/redis', '@reeve/simulation', '@reeve/rig'],
  },
};

/** What tests of any package may use on top. */
const testsMay = ['@reeve/simulation', '@reeve/rig', '@reeve/embedded'];

/** Rooms of an operator → the other rooms they may import. A room not listed here does not exist yet. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  api: [],
  plan: ['api'],
  observe: ['api'],
  client: ['api'],
  commands: ['api', 'observe'],
  agent: ['api', 'observe', 'commands'],
  controllers: ['api', 'plan', 'observe', 'client', 'commands', 'agent'],
};

/** Rooms without the outside world: not even Node's modules. */
const pureRooms = ['api', 'plan'];

/** Third-party modules → the folders that may know them, so that replacing one means changing one folder. */
const thirdParty: Readonly<Record<string, readonly string[]>> = {
  '@peculiar/asn1-schema': ['apps/cli/src/certificates'],
  '@peculiar/asn1-x509': ['apps/cli/src/certificates'],
  '@redis/client': ['operators/redis/src/client', 'rig', 'bench', 'proofs'],
  'fast-check': ['tests'],
  re2js: ['packages/embedded/src/format'],
  undici: ['packages/kube/src/transport'],
  yaml: ['packages/kube/src/kubeconfig', 'apps/cli/src/kube'],
};

interface Place {
  readonly folder: string;
  readonly name: string;
  readonly may: readonly string[];
}

function placeOf(path: string): Place | undefined {
  for (const [folder, rule] of Object.entries(packages)) {
    if (path.startsWith(`${folder}/`)) return { folder, ...rule };
  }
  return undefined;
}

function roomOf(path: string): string | undefined {
  return /^operators\/[^/]+\/src\/([^/]+)\//.exec(path)?.[1];
}

export function checkDirection(files: readonly SourceFile[]): readonly string[] {
  const problems: string[] = [];
  for (const file of files.filter(({ path }) => isTypeScript(path))) {
    const place = placeOf(file.path);
    if (!place) {
      problems.push(`${file.path}: lies in no known package: add it to checks/direction.ts and docs/DESIGN.md`);
      continue;
    }
    const room = roomOf(file.path);
    if (room !== undefined && !(room in rooms)) {
      problems.push(`${file.path}: '${room}' is no room of an operator (${Object.keys(rooms).join(', ')})`);
      continue;
    }
    for (const { name, line } of importsOf(file.text)) {
      const problem = judge(file.path, place, room, name);
      if (problem) problems.push(`${file.path}:${line}: ${problem}`);
    }
  }
  return problems;
}

function judge(path: string, from: Place, room: string | undefined, imported: string): string | undefined {
  const test = isTest(path);
  if (imported.startsWith('.')) return judgeRelative(path, from, room, test, imported);
  if (imported.startsWith('node:')) {
    return room !== undefined && pureRooms.includes(room) && !test
      ? `${room}/ is pure and may not import ${imported}`
      : undefined;
  }
  const bare = imported.split('/', imported.startsWith('@') ? 2 : 1).join('/');
  if (bare.startsWith('@reeve/')) {
    if (bare === from.name || from.may.includes(bare) || (test && testsMay.includes(bare))) return undefined;
    return `${from.name} may not import ${bare}`;
  }
  const allowed = thirdParty[bare];
  if (!allowed) return `${bare} is not a dependency that docs/designs/dependencies.md knows`;
  if (test || allowed.some((folder) => path.startsWith(`${folder}/`))) return undefined;
  return `only ${allowed.join(', ')} may import ${bare}`;
}

function judgeRelative(
  path: string,
  from: Place,
  room: string | undefined,
  test: boolean,
  imported: string,
): string | undefined {
  const target = posix.normalize(posix.join(posix.dirname(path), imported));
  if (!target.startsWith(`${from.folder}/`))
    return `${target} lies in another package: import it by the package's name`;
  if (test) return undefined;
  if (isTest(target)) return `${target} is a test and may be imported by tests only`;
  const targetRoom = roomOf(target);
  if (room === undefined || targetRoom === room) return undefined;
  if (targetRoom === undefined) return `${room}/ may not import ${target}, which lies above it`;
  return (rooms[room] ?? []).includes(targetRoom) ? undefined : `${room}/ may not import ${targetRoom}/`;
}
