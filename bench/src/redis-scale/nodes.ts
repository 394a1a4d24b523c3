/**
 * A cluster of simulated nodes that answer what real ones would, and whose work is no part of what is measured: all texts are made
 * before, and lie outside the heap. Each node has its own table, with times of its own, as real ones have.
 */
import { createHash } from 'node:crypto';
import { type Arg, type CallOptions, type Endpoint, type RedisPort, RedisReplyError, type Reply } from '@reeve/redis';

const PORT = 6379;
const BUS = 16_379;
const SLOTS = 16_384;
/** Of a real Valkey 9.1: so many fields has its INFO that nobody here reads. */
const OTHER_FIELDS = 190;
/** Primes: four of them do not divide any number of nodes that is asked for. */
const STRIDES = [7, 11, 13, 17, 19, 23, 29];

interface Node {
  readonly id: string;
  readonly host: string;
  readonly info: Buffer;
  readonly table: Buffer;
}

export class SimulatedNodes {
  readonly count: number;
  /** How often a table was asked for. */
  tables = 0;
  /** The highest that the heap was while tables were asked for, if somebody wants to know. */
  peakHeapBytes: number | undefined;
  readonly #nodes = new Map<string, Node>();
  readonly #clusterInfo: string;

  /** @param isFormed false: nobody knows anybody, as before a cluster is created. */
  constructor(count: number, isFormed = true) {
    this.count = count;
    this.#clusterInfo = clusterInfo(count, isFormed);
    const lines = Array.from({ length: count }, (_, index) => lineOf(index, count, isFormed));
    for (let index = 0; index < count; index++) {
      const known = isFormed ? orderOf(index, count) : [index];
      const table = known.map((other) => lines[other]?.(other === index, pongOf(index, other))).join('');
      const node = { id: idOf(index), host: hostOf(index), info: infoOf(index, count, isFormed), table: textOf(table) };
      this.#nodes.set(node.host, node);
    }
  }

  readonly port: RedisPort = {
    call: async (endpoint, args, options) => this.#answer(endpoint, args, options),
    reads: async (endpoint, commands, options) => commands.map((args) => this.#answer(endpoint, args, options)),
    transaction: async (endpoint) => {
      throw new RedisReplyError('ERR simulated nodes change nothing', endpoint.host);
    },
    migrateAuth: () => [],
    close: async () => undefined,
  };

  #answer({ host }: Endpoint, args: readonly Arg[], { binary = false }: CallOptions = {}): Reply {
    const node = this.#nodes.get(host);
    if (!node) throw new Error(`nobody is at ${host}`);
    const words = args.slice(0, 2).join(' ');
    switch (words) {
      case 'INFO':
        return node.info.toString('latin1');
      case 'CLUSTER NODES':
        this.tables++;
        this.#weigh();
        // Whoever asks for bytes gets what came from the network, as from a real client.
        return binary ? node.table : node.table.toString('latin1');
      case 'CLUSTER INFO':
        return this.#clusterInfo;
      case 'COMMAND INFO':
        return [['cluster|migrateslots'], null, ['cluster|slot-stats'], ['function|list']];
      case 'CONFIG GET':
        return ['cluster-node-timeout', '5000'];
      case 'FUNCTION LIST':
      case 'CLUSTER GETSLOTMIGRATIONS':
        return [];
      default:
        throw new RedisReplyError(`ERR simulated nodes do not know ${words}`, host);
    }
  }

  #weigh(): void {
    if (this.peakHeapBytes === undefined) return;
    this.peakHeapBytes = Math.max(this.peakHeapBytes, process.memoryUsage().heapUsed);
  }
}

export function hostOf(index: number): string {
  return `10.0.${Math.floor(index / 250)}.${(index % 250) + 1}`;
}

/** The primary and its replica are in two zones; workers of a zone are taken in turn. */
export function workerOf(index: number, { count, zones, workers }: Places): number {
  const isReplica = index >= count / 2;
  const shard = isReplica ? replicated(index, count / 2) : index;
  const zone = (shard + (isReplica ? 1 : 0)) % zones;
  return zone + zones * (Math.floor(shard / zones) % (workers / zones));
}

interface Places {
  readonly count: number;
  readonly zones: number;
  /** A multiple of the zones: worker n is in zone n modulo zones. */
  readonly workers: number;
}

const textOf = (text: string): Buffer => Buffer.from(text, 'latin1');
const idOf = (index: number): string => createHash('sha1').update(`node ${index}`).digest('hex');
/** Each node lists the others in an order of its own. */
function orderOf(index: number, count: number): readonly number[] {
  const stride = STRIDES.filter((one) => count % one !== 0)[index % 4] ?? 1;
  return Array.from({ length: count }, (_, at) => (at * stride + index) % count);
}

/** Some milliseconds ago, another one in each table. */
const pongOf = (by: number, about: number): number => 1_794_781_666_000 + ((by * 7_919 + about * 104_729) % 10_000);

/** Primaries first; the replica of each lives elsewhere: in the second half. */
function lineOf(index: number, count: number, isFormed: boolean): (isSelf: boolean, pong: number) => string {
  const primaries = count / 2;
  const isReplica = isFormed && index >= primaries;
  const head = `${idOf(index)} ${hostOf(index)}:${PORT}@${BUS}`;
  const primary = isReplica ? idOf(replicated(index, primaries)) : '-';
  const epoch = isFormed ? (isReplica ? replicated(index, primaries) : index) + 1 : 0;
  const slots = isReplica || !isFormed ? '' : ` ${slotsOf(index, primaries)}`;
  return (isSelf, pong) => {
    const flags = `${isSelf ? 'myself,' : ''}${isReplica ? 'slave' : 'master'}`;
    return `${head} ${flags} ${primary} 0 ${isSelf ? 0 : pong} ${epoch} connected${slots}\n`;
  };
}

function replicated(index: number, primaries: number): number {
  return index - primaries;
}

function slotsOf(index: number, primaries: number): string {
  const first = Math.round((SLOTS * index) / primaries);
  return `${first}-${Math.round((SLOTS * (index + 1)) / primaries) - 1}`;
}

function clusterInfo(count: number, isFormed: boolean): string {
  return [
    `cluster_state:${isFormed ? 'ok' : 'fail'}`,
    `cluster_slots_assigned:${isFormed ? SLOTS : 0}`,
    `cluster_known_nodes:${isFormed ? count : 1}`,
    `cluster_size:${isFormed ? count / 2 : 0}`,
    `cluster_current_epoch:${isFormed ? count : 0}`,
    '',
  ].join('\r\n');
}

function infoOf(index: number, count: number, isFormed: boolean): Buffer {
  const role =
    isFormed && index >= count / 2
      ? ['role:slave', 'master_link_status:up', 'master_sync_in_progress:0', 'slave_repl_offset:1200']
      : ['role:master', 'master_repl_offset:1200'];
  const others = Array.from({ length: OTHER_FIELDS }, (_, field) => `some_other_field_${field}:${field * 1_000_003}`);
  const lines = [
    '# Server',
    'redis_version:7.2.4',
    'server_name:valkey',
    'valkey_version:9.1.2',
    'redis_mode:cluster',
    `run_id:${idOf(-1 - index)}`,
    '# Memory',
    'used_memory:2852416',
    'total_system_memory:25274793984',
    'maxmemory:0',
    ...others,
    '# Replication',
    ...role,
    ...(isFormed ? ['# Keyspace', 'db0:keys=1000,expires=0,avg_ttl=0'] : []),
    '',
  ];
  return textOf(lines.join('\r\n'));
}
