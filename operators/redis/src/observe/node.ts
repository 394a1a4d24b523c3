/** One node's own view of itself and of the others, read in one write and its replies. */
import { asReeveError, type Clock, type Knowledge, known, ReeveError, unknown } from '@reeve/runtime';
import type { Needs } from '../api/operation.ts';
import type { Arg, RedisPort, Reply } from '../api/port.ts';
import { rangesOf, type SlotRanges, unionSlots } from '../api/slots.ts';
import { type Endpoint, formatEndpoint, type NodeLine, type NodeReport, type ServerInfo } from '../api/view.ts';
import { CAPABILITY_QUESTION, capabilitiesOf } from './capabilities.ts';
import { fieldsOf, runningJobsOf } from './jobs.ts';
import { countKeys, type MeasuredNode, type Measures, slotStats, withSampledBytes } from './measure.ts';
import { clusterInfoOf, keyspaceOf, memoryOf, parseInfo, replicationOf } from './parse.ts';
import { misplacedInShards } from './shards.ts';
import { countKeysBeyond } from './stray.ts';
import { NodeTableReader, type ReadTable } from './tables.ts';

export const DEFAULT_TIMEOUT_MS = 5000;

export interface Answer {
  readonly report: NodeReport;
  /** New with each start of a server: tells whether two addresses lead to one process. */
  readonly runId: string;
  /** Of the lines about others, as the reader of this look counts them. */
  readonly numbers: ReadTable['numbers'];
}

export interface Reading {
  readonly port: RedisPort;
  readonly needs: Needs;
  readonly timeoutMs: number;
  readonly tables: NodeTableReader;
}

/** Throws a ReeveError when the node cannot be read at all: it does not answer, is not in cluster mode, denies INFO. */
export async function observeNode(
  port: RedisPort,
  _ports: { readonly clock: Clock },
  endpoint: Endpoint,
  needs: Needs,
): Promise<NodeReport> {
  const reading = { port, needs, timeoutMs: DEFAULT_TIMEOUT_MS, tables: new NodeTableReader() };
  return (await readNode(reading, endpoint)).report;
}

export async function readNode(reading: Reading, endpoint: Endpoint): Promise<Answer> {
  const { port, needs, timeoutMs } = reading;
  const ask = (args: readonly Arg[]): Promise<Knowledge<Reply>> =>
    port.call(endpoint, args, { timeoutMs }).then(known, (error: unknown) => unknown(asReeveError(error).message));
  // Without these three nothing can be said of the node; the rest may be denied or missing.
  const essential = Promise.all([
    port.call(endpoint, ['INFO'], { timeoutMs }),
    // As bytes, and read at once: of the tables of a large cluster hardly anything becomes text, and none is kept.
    port
      .call(endpoint, ['CLUSTER', 'NODES'], { timeoutMs, binary: true })
      .then((reply) => reading.tables.read(Buffer.isBuffer(reply) ? reply : Buffer.from(String(reply)))),
    port.call(endpoint, ['CLUSTER', 'INFO'], { timeoutMs }),
  ]);
  const optional = Promise.all([
    ask(CAPABILITY_QUESTION),
    ask(['CONFIG', 'GET', 'cluster-node-timeout']),
    ask(['FUNCTION', 'LIST']),
    ask(['CLUSTER', 'GETSLOTMIGRATIONS']),
    needs.shards ? ask(['CLUSTER', 'SHARDS']) : unknown('not asked'),
  ]);
  const [infoText, { self, others, numbers }, clusterText] = await essential.catch((error: unknown) => {
    throw notReadable(error, endpoint);
  });
  const [commands, config, functions, jobs, shards] = await optional;

  if (!self) {
    throw new ReeveError('REDIS_NO_IDENTITY', `${formatEndpoint(endpoint)} does not say which node it is`, {
      subjects: [formatEndpoint(endpoint)],
    });
  }
  const answers = { commands, config, atomicJobs: jobs.known, functions: functions.known };
  const { server, keyspace, replication, memory, runId } = toldBy(parseInfo(String(infoText)), answers);
  const node: MeasuredNode = { port, endpoint, timeoutMs, databases: Object.keys(keyspace).map(Number) };
  const report: NodeReport = {
    server,
    self,
    others,
    info: clusterInfoOf(parseInfo(String(clusterText))),
    replication,
    memory,
    keyspace,
    functionLibraries: libraryCount(functions),
    slotMeasures: await measuresFor(node, needs, self, server),
    keysBeyondSlots: await askedOfPrimary(needs.keysBeyondSlots, self, (served) => countKeysBeyond(node, served)),
    misplacedInShards: shards.known ? known(misplacedInShards(shards.value, [self, ...others])) : shards,
    atomicJobs: await jobsOf(reading, endpoint, server, jobs),
  };
  return { report, runId, numbers };
}

function notReadable(error: unknown, endpoint: Endpoint): ReeveError {
  const known = asReeveError(error);
  if (!/cluster support disabled/i.test(known.message)) return known;
  return new ReeveError('CLUSTER_DISABLED', `${formatEndpoint(endpoint)} does not run in cluster mode`, {
    subjects: [formatEndpoint(endpoint)],
  });
}

interface Answers {
  readonly commands: Knowledge<Reply>;
  readonly config: Knowledge<Reply>;
  /** Whether these were answered. */
  readonly atomicJobs: boolean;
  readonly functions: boolean;
}

/** All that is made of INFO. Its some 200 fields are not kept while more is asked. */
function toldBy(info: Readonly<Record<string, string>>, answers: Answers) {
  return {
    server: serverOf(info, answers),
    keyspace: keyspaceOf(info),
    replication: replicationOf(info),
    memory: memoryOf(info),
    runId: info.run_id ?? '',
  };
}

function serverOf(info: Readonly<Record<string, string>>, answers: Answers): ServerInfo {
  const { commands, config } = answers;
  const settings = fieldsOf(config.known ? config.value : undefined);
  const nodeTimeout = settings.get('cluster-node-timeout');
  return {
    product: info.valkey_version === undefined ? 'redis' : 'valkey',
    version: info.valkey_version ?? info.redis_version ?? '',
    capabilities: capabilitiesOf(commands.known ? commands.value : undefined, answers),
    nodeTimeoutMs:
      nodeTimeout === undefined
        ? unknown(config.known ? 'the server has no cluster-node-timeout' : config.why)
        : known(Number(nodeTimeout)),
  };
}

function libraryCount(functions: Knowledge<Reply>): Knowledge<number> {
  if (!functions.known) return functions;
  return Array.isArray(functions.value) ? known(functions.value.length) : unknown('FUNCTION LIST answered no list');
}

async function measuresFor(node: MeasuredNode, needs: Needs, self: NodeLine, server: ServerInfo): Promise<Measures> {
  if (self.role !== 'primary') return {};
  const measures = needs.measureSlots ? await measureOwn(node, needs.measureSlots, self, server) : {};
  const missing = needs.countKeysIn ? withoutMeasured(needs, measures) : [];
  return missing.length > 0 ? Object.assign(measures, await countKeys(node, missing)) : measures;
}

function withoutMeasured(needs: Needs, measures: Measures) {
  const wanted = needs.countKeysIn ?? [];
  const slots: number[] = [];
  for (const [first, last] of wanted) {
    for (let slot = first; slot <= last; slot++) if (measures[slot] === undefined) slots.push(slot);
  }
  return rangesOf(slots);
}

async function measureOwn(
  node: MeasuredNode,
  by: 'keys' | 'bytes' | 'load',
  self: NodeLine,
  server: ServerInfo,
): Promise<Measures> {
  const stats = server.capabilities.slotStats ? await slotStats(node, self.slots) : undefined;
  const measures = stats ?? (await countKeys(node, self.slots));
  if (by !== 'bytes') return measures;
  const known = Object.values(measures).every((measure) => measure.bytes !== undefined);
  return known ? measures : withSampledBytes(node, measures);
}

async function askedOfPrimary(
  isAsked: boolean | undefined,
  self: NodeLine,
  count: (served: SlotRanges) => Promise<Knowledge<number>>,
): Promise<Knowledge<number>> {
  if (!isAsked) return unknown('not asked');
  if (self.role !== 'primary') return unknown('a replica holds what its primary holds');
  // Keys of a slot that is being imported are where they belong.
  const importing = rangesOf(self.importing.map(({ slot }) => slot));
  return count(unionSlots(self.slots, importing));
}

/** Redis 8.4 has another command for its migrations, asked only where it exists. */
async function jobsOf(
  reading: Reading,
  endpoint: Endpoint,
  server: ServerInfo,
  jobs: Knowledge<Reply>,
): Promise<NodeReport['atomicJobs']> {
  if (jobs.known) return known(runningJobsOf(jobs.value));
  // A server without the command has no jobs; one that denies it may have some.
  if (!/unknown (?:sub)?command/i.test(jobs.why)) return jobs;
  if (!server.capabilities.redisAtomicMigration) return known([]);
  const options = { timeoutMs: reading.timeoutMs };
  return reading.port.call(endpoint, ['CLUSTER', 'MIGRATION', 'STATUS', 'ALL'], options).then(
    (reply) => known(runningJobsOf(reply)),
    (error: unknown) => unknown(asReeveError(error).message),
  );
}
