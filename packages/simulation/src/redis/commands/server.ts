/** INFO, CONFIG, COMMAND, FUNCTION and the small commands of a connection. */
import { onlineReplicas, write } from '../replication.ts';
import { Bulk, bulk, err, OK, type RawReply, ServerError } from '../reply.ts';
import type { ModelServer, Settings } from '../server.ts';
import type { Call } from '../session.ts';
import { clusterSubcommand } from './cluster.ts';
import { integer } from './keys.ts';
import type { CommandSpec } from './table.ts';

const versions = { valkey9: '9.1.2', redis7: '7.0.15', redis8: '8.4.0' } as const;

function serverSection(server: ModelServer, now: number): string[] {
  const version = versions[server.options.flavour];
  const names = server.can.pushesSlots
    ? ['redis_version:7.2.4', 'server_name:valkey', `valkey_version:${version}`, 'server_mode:cluster']
    : [`redis_version:${version}`];
  return [
    '# Server',
    ...names,
    'redis_mode:cluster',
    `run_id:${server.runId}`,
    `tcp_port:${server.port}`,
    `uptime_in_seconds:${Math.floor((now - server.startedAt) / 1000)}`,
  ];
}

function replicationSection({ server, network, now }: Call): string[] {
  const { replication } = server;
  const lines = ['# Replication', `role:${server.isPrimary ? 'master' : 'slave'}`];
  const primary = server.self.primary;
  if (!server.isPrimary) {
    lines.push(
      `master_host:${primary?.host ?? ''}`,
      `master_port:${primary?.port ?? 0}`,
      `master_link_status:${replication.link === 'up' ? 'up' : 'down'}`,
      `master_last_io_seconds_ago:${replication.link === 'up' ? Math.floor((now - replication.lastContactAt) / 1000) : -1}`,
      `master_sync_in_progress:${replication.link === 'syncing' ? 1 : 0}`,
      `slave_read_repl_offset:${replication.offset}`,
      `slave_repl_offset:${replication.offset}`,
    );
    if (replication.link !== 'up') {
      lines.push(`master_link_down_since_seconds:${Math.floor((now - replication.linkDownSince) / 1000)}`);
    }
    lines.push('slave_priority:100', 'slave_read_only:1');
  }
  const replicas = onlineReplicas(server, network);
  lines.push(`connected_slaves:${replicas.length}`);
  for (const [index, replica] of replicas.entries()) {
    const { offset } = replica.replication;
    lines.push(`slave${index}:ip=${replica.host},port=${replica.port},state=online,offset=${offset},lag=0`);
  }
  lines.push('master_failover_state:no-failover', `master_repl_offset:${replication.offset}`);
  return lines;
}

/** A rewrite of the file takes no time here. */
function persistenceSection(server: ModelServer): string[] {
  return [
    '# Persistence',
    'loading:0',
    `aof_enabled:${server.options.persistence ? 1 : 0}`,
    'aof_rewrite_in_progress:0',
    'aof_rewrite_scheduled:0',
    'aof_last_bgrewrite_status:ok',
  ];
}

function rewriteLog({ server }: Call): RawReply {
  server.unlogged.rewritten();
  return 'Background append only file rewriting started';
}

function keyspaceSection(server: ModelServer): string[] {
  const lines = ['# Keyspace'];
  for (const [index, keys] of server.databases.entries()) {
    if (keys.size > 0) lines.push(`db${index}:keys=${keys.size},expires=0,avg_ttl=0`);
  }
  return lines;
}

function memorySection(server: ModelServer): string[] {
  return [
    '# Memory',
    `used_memory:${server.usedBytes()}`,
    'total_system_memory:8000000000',
    `maxmemory:${server.settings.maxMemory}`,
  ];
}

function info(call: Call): RawReply {
  const wanted = new Set(call.args.slice(1).map((word) => word.toLowerCase()));
  const all = wanted.size === 0 || ['all', 'everything', 'default'].some((word) => wanted.has(word));
  const sections: [string, () => string[]][] = [
    ['server', () => serverSection(call.server, call.now)],
    ['memory', () => memorySection(call.server)],
    ['persistence', () => persistenceSection(call.server)],
    ['replication', () => replicationSection(call)],
    ['cluster', () => ['# Cluster', 'cluster_enabled:1']],
    ['keyspace', () => keyspaceSection(call.server)],
  ];
  const shown = sections.filter(([name]) => all || wanted.has(name)).map(([, lines]) => lines().join('\r\n'));
  return bulk(shown.map((section) => `${section}\r\n`).join('\r\n'));
}

interface Setting {
  get(server: ModelServer): string;
  /** Undefined when it cannot be changed while running. */
  set?(settings: Settings, value: string): void;
}

const yesNo = (value: boolean) => (value ? 'yes' : 'no');

const settings: Readonly<Record<string, Setting>> = {
  'cluster-node-timeout': {
    get: (server) => String(server.settings.nodeTimeoutMs),
    set: (to, value) => (to.nodeTimeoutMs = integer(value)),
  },
  'cluster-allow-replica-migration': {
    get: (server) => yesNo(server.settings.allowReplicaMigration),
    set: (to, value) => (to.allowReplicaMigration = value === 'yes'),
  },
  'cluster-require-full-coverage': {
    get: (server) => yesNo(server.settings.requireFullCoverage),
    set: (to, value) => (to.requireFullCoverage = value === 'yes'),
  },
  'cluster-slot-stats-enabled': {
    get: (server) => yesNo(server.settings.slotStats),
    set: (to, value) => (to.slotStats = value === 'yes'),
  },
  maxmemory: {
    get: (server) => String(server.settings.maxMemory),
    set: (to, value) => (to.maxMemory = integer(value)),
  },
  'cluster-databases': { get: (server) => String(server.options.databases) },
};

function settingOf(server: ModelServer, name: string): Setting | undefined {
  if (name === 'cluster-databases' && !server.can.databases) return undefined;
  if (name === 'cluster-slot-stats-enabled' && !server.can.slotStats) return undefined;
  return settings[name];
}

function config(call: Call): RawReply {
  const action = call.args[1]?.toUpperCase();
  const words = call.args.slice(2).map((word) => word.toLowerCase());
  if (action === 'GET') {
    return words.flatMap((name): RawReply[] => {
      const setting = settingOf(call.server, name);
      return setting ? [bulk(name), bulk(setting.get(call.server))] : [];
    });
  }
  if (action !== 'SET') throw err(`unknown subcommand '${call.args[1]}'. Try CONFIG HELP.`);
  for (let at = 0; at < words.length; at += 2) {
    const name = words[at] ?? '';
    const setting = settingOf(call.server, name);
    if (!setting?.set) throw err(`Unknown option or number of arguments for CONFIG SET - '${name}'`);
    setting.set(call.server.settings, words[at + 1] ?? '');
  }
  call.server.touch();
  return OK;
}

/** COMMAND INFO answers an array per name, null for what does not exist: how abilities are detected. */
function commandInfo(call: Call, known: (name: string) => boolean): RawReply {
  if (call.args[1]?.toUpperCase() !== 'INFO') throw err(`unknown subcommand '${call.args[1]}'. Try COMMAND HELP.`);
  return call.args.slice(2).map((name): RawReply => {
    const [command = '', subcommand] = name.toLowerCase().split('|');
    const exists =
      command === 'cluster' && subcommand ? clusterSubcommand(call.server, subcommand) !== undefined : known(command);
    return exists ? [bulk(name.toLowerCase()), -2, [], 0, 0, 0, [], [], [], []] : null;
  });
}

const FUNCTION_FOOTER = 'model-functions';

function functions(call: Call): RawReply {
  const { server } = call;
  const action = call.args[1]?.toUpperCase();
  if (action === 'LIST')
    return server.functions.map((name) => [bulk('library_name'), bulk(name), bulk('engine'), bulk('LUA')]);
  if (action === 'DUMP') return new Bulk(JSON.stringify(server.functions) + FUNCTION_FOOTER);
  if (action === 'LOAD') {
    const name = /name=(\w+)/.exec(call.args.at(-1) ?? '')?.[1];
    if (!name) throw err('Missing library metadata');
    const replace = call.args[2]?.toUpperCase() === 'REPLACE';
    if (server.functions.includes(name) && !replace) throw err(`Library '${name}' already exists`);
    write(server, { type: 'functions', libraries: [...server.functions.filter((other) => other !== name), name] });
    return bulk(name);
  }
  if (action === 'FLUSH') {
    write(server, { type: 'functions', libraries: [] });
    return OK;
  }
  if (action === 'RESTORE') return restoreFunctions(call);
  throw err(`unknown subcommand '${call.args[1]}'. Try FUNCTION HELP.`);
}

function restoreFunctions({ server, args }: Call): RawReply {
  const payload = args[2] ?? '';
  if (!payload.endsWith(FUNCTION_FOOTER)) throw err('DUMP payload version or checksum are wrong');
  const libraries = JSON.parse(payload.slice(0, -FUNCTION_FOOTER.length)) as string[];
  const policy = (args[3] ?? 'APPEND').toUpperCase();
  if (policy === 'APPEND') {
    for (const name of libraries) if (server.functions.includes(name)) throw err(`Library ${name} already exists`);
  }
  const kept = policy === 'FLUSH' ? [] : server.functions.filter((name) => !libraries.includes(name));
  write(server, { type: 'functions', libraries: [...kept, ...libraries] });
  return OK;
}

function select(call: Call): RawReply {
  const index = integer(call.args[1]);
  const count = call.server.databases.length;
  if (!call.server.can.databases && index !== 0) throw err('SELECT is not allowed in cluster mode');
  if (index < 0 || index >= count) throw err('DB index is out of range');
  call.session.database = index;
  return OK;
}

function ping(call: Call): RawReply {
  return call.args[1] === undefined ? 'PONG' : new Bulk(call.args[1]);
}

export function serverCommands(known: (name: string) => boolean): readonly CommandSpec[] {
  return [
    { name: 'ping', arity: -1, run: ping },
    { name: 'info', arity: -1, run: info },
    { name: 'bgrewriteaof', arity: 1, run: rewriteLog },
    { name: 'config', arity: -2, run: config },
    { name: 'command', arity: -1, run: (call) => commandInfo(call, known) },
    { name: 'function', arity: -2, run: functions },
    { name: 'select', arity: 2, run: select },
    {
      name: 'asking',
      arity: 1,
      run: (call) => {
        call.session.asking = true;
        return OK;
      },
    },
    {
      name: 'readonly',
      arity: 1,
      run: (call) => {
        call.session.readonly = true;
        return OK;
      },
    },
    {
      name: 'readwrite',
      arity: 1,
      run: (call) => {
        call.session.readonly = false;
        return OK;
      },
    },
    { name: 'time', arity: 1, run: (call) => [bulk(String(Math.floor(call.now / 1000))), bulk('0')] },
    {
      name: 'auth',
      arity: -2,
      run: () => {
        throw new ServerError(
          'ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?',
        );
      },
    },
  ];
}
