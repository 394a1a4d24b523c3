/** Two judges that share no code with the product: the server package's own check, and our invariants. */
import { redisCli, valkeyCli } from './binaries/find.ts';
import { type Program, runProgram } from './binaries/program.ts';
import type { Product } from './servers/config.ts';
import { type Access, type Connection, connect, type Endpoint } from './servers/connection.ts';
import { type NodesLine, parseNodes } from './servers/nodes.ts';
import { keySlot } from './slot.ts';

export interface ServerCheck {
  readonly code: number;
  readonly output: string;
  /** Which program judged: redis-cli stands in where valkey-cli cannot be had. */
  readonly by: string;
}

/** What the command line tools need to get in. */
export interface CliAccess extends Access {
  readonly files?: { readonly caFile: string; readonly certFile: string; readonly keyFile: string };
}

export async function clusterCli(product: Product): Promise<Program> {
  return (product === 'valkey' ? await valkeyCli() : undefined) ?? (await redisCli());
}

export function cliAccessArguments(access: CliAccess): readonly string[] {
  const args: string[] = [];
  if (access.username !== undefined) args.push('--user', access.username);
  if (access.password !== undefined) args.push('-a', access.password, '--no-auth-warning');
  if (access.files) {
    const { caFile, certFile, keyFile } = access.files;
    args.push('--tls', '--cacert', caFile, '--cert', certFile, '--key', keyFile);
  }
  return args;
}

/** `--cluster check`, including the search for several owners. Exit code 0 = clean in its eyes. */
export async function serverCheck(product: Product, endpoint: Endpoint, access: CliAccess = {}): Promise<ServerCheck> {
  const cli = await clusterCli(product);
  const address = `${endpoint.host}:${endpoint.port}`;
  const args = ['--cluster', 'check', address, '--cluster-search-multiple-owners', ...cliAccessArguments(access)];
  const { code, stdout, stderr } = await runProgram(cli, args, 120_000);
  return { code, output: `${stdout}${stderr}`, by: `${cli.name} (${cli.origin})` };
}

export interface Expected {
  readonly replicasPerPrimary?: number;
  /**
   * Where each node lives, by `host:port`: no two nodes of one shard on one host (unless there are fewer hosts than
   * nodes in a shard), and no host with more primaries than its even share, rounded up.
   */
  readonly hostOf?: (endpoint: Endpoint) => string;
  /** Key → value that a server acknowledged last. */
  readonly acknowledged?: ReadonlyMap<string, string>;
  /** The number of members; default: as many as endpoints given. */
  readonly members?: number;
  readonly access?: Access;
}

interface Told {
  readonly endpoint: Endpoint;
  readonly connection: Connection;
  readonly lines: readonly NodesLine[];
  readonly self: NodesLine;
  readonly clusterInfo: string;
  readonly replication: string;
}

/** Every rule that is broken, a line each; empty = the cluster is as it should be. */
export async function invariants(endpoints: readonly Endpoint[], expected: Expected = {}): Promise<readonly string[]> {
  const violations: string[] = [];
  const told: Told[] = [];
  try {
    for (const endpoint of endpoints) {
      try {
        told.push(await ask(endpoint, expected.access ?? {}));
      } catch (error) {
        violations.push(`${name(endpoint)} does not answer: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    if (told.length === 0) return violations;
    violations.push(
      ...sameViews(told, expected.members ?? endpoints.length),
      ...eachNodeWell(told),
      ...slotsCoveredOnce(told),
      ...uniqueEpochs(told),
      ...placement(told, expected),
      ...(await keysAtHome(told)),
      ...(await acknowledgedPresent(told, expected.acknowledged)),
    );
    return violations;
  } finally {
    for (const { connection } of told) connection.close();
  }
}

function name(endpoint: Endpoint): string {
  return `${endpoint.host}:${endpoint.port}`;
}

async function ask(endpoint: Endpoint, access: Access): Promise<Told> {
  const connection = await connect(endpoint, access);
  const lines = parseNodes(String(await connection.call('CLUSTER', 'NODES')));
  const self = lines.find((line) => line.myself);
  if (!self) throw new Error('no line of its own in CLUSTER NODES');
  const clusterInfo = String(await connection.call('CLUSTER', 'INFO'));
  const replication = String(await connection.call('INFO', 'replication'));
  return { endpoint, connection, lines, self, clusterInfo, replication };
}

function sameViews(told: readonly Told[], members: number): string[] {
  const violations: string[] = [];
  const picture = ({ lines }: Told) =>
    lines
      .map(
        (line) =>
          `${line.id} ${line.host}:${line.port} ${line.role} of ${line.primaryId} epoch ${line.epoch} [${line.slotText}]`,
      )
      .sort()
      .join('\n');
  const first = told[0] as Told;
  for (const other of told) {
    if (picture(other) !== picture(first)) {
      violations.push(
        `views differ: ${name(first.endpoint)} sees\n${picture(first)}\n${name(other.endpoint)} sees\n${picture(other)}`,
      );
      break;
    }
  }
  for (const { endpoint, lines } of told) {
    if (lines.length !== members) violations.push(`${name(endpoint)} knows ${lines.length} members, not ${members}`);
  }
  return violations;
}

function eachNodeWell(told: readonly Told[]): string[] {
  const violations: string[] = [];
  for (const { endpoint, lines, self, clusterInfo, replication } of told) {
    if (!clusterInfo.includes('cluster_state:ok')) violations.push(`${name(endpoint)}: cluster_state is not ok`);
    for (const line of lines) {
      const bad = line.flags.filter((flag) => ['fail', 'fail?', 'handshake', 'noaddr', 'noflags'].includes(flag));
      if (bad.length > 0) violations.push(`${name(endpoint)} flags ${line.id} as ${bad.join(',')}`);
      if (!line.linkUp && !line.myself) violations.push(`${name(endpoint)} has no bus link to ${line.id}`);
      for (const { slot, state, peer } of line.open)
        violations.push(`${name(endpoint)}: slot ${slot} is open, ${state} with ${peer}`);
    }
    if ((self.role === 'replica') !== replication.includes('role:slave')) {
      violations.push(`${name(endpoint)}: role in the cluster and in replication differ`);
    }
    if (self.role === 'replica' && !replication.includes('master_link_status:up')) {
      violations.push(`${name(endpoint)}: the link to its primary is down`);
    }
  }
  return violations;
}

function slotsCoveredOnce(told: readonly Told[]): string[] {
  const owners: string[][] = Array.from({ length: 16384 }, () => []);
  for (const { self } of told) {
    if (self.role === 'replica') continue;
    for (const [first, last] of self.slots) for (let slot = first; slot <= last; slot++) owners[slot]?.push(self.id);
  }
  const none = owners.flatMap((ids, slot) => (ids.length === 0 ? [slot] : []));
  const several = owners.flatMap((ids, slot) => (ids.length > 1 ? [slot] : []));
  const violations: string[] = [];
  if (none.length > 0) violations.push(`${none.length} slots have no owner: ${none.slice(0, 5).join(', ')} …`);
  if (several.length > 0)
    violations.push(`${several.length} slots have several owners: ${several.slice(0, 5).join(', ')} …`);
  return violations;
}

function uniqueEpochs(told: readonly Told[]): string[] {
  const byEpoch = new Map<number, string[]>();
  for (const { self } of told) {
    if (self.role === 'primary') byEpoch.set(self.epoch, [...(byEpoch.get(self.epoch) ?? []), self.id]);
  }
  return [...byEpoch]
    .filter(([, ids]) => ids.length > 1)
    .map(([epoch, ids]) => `config epoch ${epoch} is shared by ${ids.join(' and ')}`);
}

function placement(told: readonly Told[], expected: Expected): string[] {
  const violations: string[] = [];
  const primaries = told.filter(({ self }) => self.role === 'primary');
  for (const { endpoint, self } of primaries) {
    const shard = told.filter((node) => node.self.id === self.id || node.self.primaryId === self.id);
    const wanted = expected.replicasPerPrimary;
    if (wanted !== undefined && shard.length - 1 !== wanted) {
      violations.push(`${name(endpoint)} has ${shard.length - 1} replicas, not ${wanted}`);
    }
    if (!expected.hostOf) continue;
    const hosts = new Set(shard.map((node) => expected.hostOf?.(node.endpoint)));
    const all = new Set(told.map((node) => expected.hostOf?.(node.endpoint)));
    if (hosts.size < Math.min(shard.length, all.size))
      violations.push(`the shard of ${name(endpoint)} is not spread over hosts`);
  }
  if (expected.hostOf) {
    const perHost = new Map<string, number>();
    for (const { endpoint } of told) perHost.set(expected.hostOf(endpoint), 0);
    for (const { endpoint } of primaries) {
      const host = expected.hostOf(endpoint);
      perHost.set(host, (perHost.get(host) ?? 0) + 1);
    }
    const share = Math.ceil(primaries.length / perHost.size);
    for (const [host, count] of perHost) {
      if (count > share) violations.push(`host ${host} has ${count} primaries, an even share is ${share}`);
    }
  }
  return violations;
}

/** SCAN on every primary: a key outside the slots its node serves is unreachable for clients. */
async function keysAtHome(told: readonly Told[]): Promise<string[]> {
  const violations: string[] = [];
  for (const { endpoint, connection, self } of told) {
    if (self.role === 'replica') continue;
    const mine = new Uint8Array(16384);
    for (const [first, last] of self.slots) mine.fill(1, first, last + 1);
    let strays = 0;
    let example = '';
    let cursor = '0';
    do {
      const [next, keys] = (await connection.callBinary('SCAN', cursor, 'COUNT', 2000)) as [Buffer, Buffer[]];
      for (const key of keys) {
        if (mine[keySlot(key)] === 1) continue;
        strays += 1;
        example = key.toString();
      }
      cursor = next.toString();
    } while (cursor !== '0');
    if (strays > 0)
      violations.push(
        `${name(endpoint)} holds ${strays} keys outside its slots, for example ${example} (slot ${keySlot(example)})`,
      );
  }
  return violations;
}

async function acknowledgedPresent(
  told: readonly Told[],
  acknowledged: ReadonlyMap<string, string> | undefined,
): Promise<string[]> {
  if (!acknowledged) return [];
  const ownerOf: (Told | undefined)[] = Array.from({ length: 16384 }, () => undefined);
  for (const node of told) {
    if (node.self.role === 'replica') continue;
    for (const [first, last] of node.self.slots) ownerOf.fill(node, first, last + 1);
  }
  const violations: string[] = [];
  const entries = [...acknowledged];
  for (let start = 0; start < entries.length; start += 500) {
    const batch = entries.slice(start, start + 500);
    const found = await Promise.all(
      batch.map(async ([key]) => {
        try {
          return await ownerOf[keySlot(key)]?.connection.call('GET', key);
        } catch (error) {
          return `error ${error instanceof Error ? error.message : String(error)}`;
        }
      }),
    );
    batch.forEach(([key, value], index) => {
      const got = found[index];
      if (got !== value)
        violations.push(
          `acknowledged write lost: ${key} should be ${value} and is ${got === null || got === undefined ? 'absent' : String(got)}`,
        );
    });
  }
  return violations;
}
