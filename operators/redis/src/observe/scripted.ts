/** A port whose servers are functions, for tests of what is read and what is made of it. */
import { ReeveError } from '@reeve/runtime';
import { type Arg, readsBy, type RedisPort, RedisReplyError, type Reply } from '../api/port.ts';
import { formatEndpoint } from '../api/view.ts';
import { VALKEY_CLUSTER_INFO, VALKEY_INFO } from './samples.ts';

/** Answers a command; an Error is an error reply (or, as a ReeveError, a failure of the call). */
export type ScriptedServer = (args: readonly string[]) => Reply | Error;

export interface ScriptedPort extends RedisPort {
  /** Every command that was sent, with its address in front. */
  readonly log: readonly string[];
}

export function scriptedPort(servers: Readonly<Record<string, ScriptedServer>>): ScriptedPort {
  const log: string[] = [];
  function answer(address: string, args: readonly Arg[]): Reply {
    const text = args.map(String);
    log.push(`${address} ${text.join(' ')}`);
    const server = servers[address];
    if (!server) throw new ReeveError('REDIS_UNREACHABLE', `no connection to ${address}`);
    const reply = server(text);
    if (reply instanceof ReeveError) throw reply;
    if (reply instanceof Error) throw new RedisReplyError(reply.message, address);
    return reply;
  }
  const call: RedisPort['call'] = async (endpoint, args) => answer(formatEndpoint(endpoint), args);
  return {
    log,
    call,
    reads: readsBy(call),
    transaction: async (endpoint, commands) => commands.map((args) => answer(formatEndpoint(endpoint), args)),
    migrateAuth: () => [],
    close: async () => undefined,
  };
}

/** Answers by the longest beginning of the command that is given; everything else is an unknown command. */
export function serverWith(answers: Readonly<Record<string, Reply | Error | ScriptedServer>>): ScriptedServer {
  const beginnings = Object.keys(answers).sort((a, b) => b.length - a.length);
  return (args) => {
    const text = args.join(' ');
    const found = beginnings.find((beginning) => text === beginning || text.startsWith(`${beginning} `));
    const reply = found === undefined ? new Error(`ERR unknown command '${args[0]}'`) : answers[found];
    return typeof reply === 'function' ? reply(args) : (reply ?? null);
  };
}

/** What a Valkey 9 primary answers, unless told otherwise. */
export function valkeyAnswers(nodesText: string): Readonly<Record<string, Reply>> {
  return {
    INFO: VALKEY_INFO,
    'CLUSTER NODES': nodesText,
    'CLUSTER INFO': VALKEY_CLUSTER_INFO,
    'COMMAND INFO': [['cluster|migrateslots'], null, ['cluster|slot-stats'], ['function|list']],
    'CONFIG GET': ['cluster-node-timeout', '15000'],
    'FUNCTION LIST': [['library_name', 'mylib']],
    'CLUSTER GETSLOTMIGRATIONS': [],
  };
}
