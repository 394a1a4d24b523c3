/** For the real tests of the handlers: commands run as a plan would have them run, against servers of the rig. */
import assert from 'node:assert/strict';
import { nodeId, type Server } from '@reeve/rig';
import { isHandle, localExecutor, type Outcome, systemClock, systemRandom } from '@reeve/runtime';
import type { RedisCommand } from '../api/commands.ts';
import type { NodeLine, NodeRef } from '../api/view.ts';
import { type ConnectOptions, connectRedis } from '../client/client.ts';
import { parseClusterNodes } from '../observe/parse.ts';
import { type RedisContext, redisContext } from './context.ts';
import { redisHandlers } from './handlers.ts';

/** Like Omit, for each member of a union by itself. */
type Without<C, K extends PropertyKey> = C extends unknown ? Omit<C, K> : never;

export interface Operator {
  readonly context: RedisContext;
  /** Runs a command to its end. */
  run(command: Without<RedisCommand, 'why'>, signal?: AbortSignal): Promise<Outcome>;
  close(): Promise<void>;
}

export function operator(access: ConnectOptions = {}): Operator {
  const redis = connectRedis(access, { clock: systemClock });
  const context = redisContext(redis, { clock: systemClock, random: systemRandom });
  const executor = localExecutor<RedisCommand, RedisContext>(redisHandlers, context);
  return {
    context,
    async run(command, signal = new AbortController().signal) {
      const started = await executor.start({ ...command, why: 'a test' } as RedisCommand, signal);
      return isHandle(started) ? started.settled : started;
    },
    close: () => redis.close(),
  };
}

export async function refTo(server: Server): Promise<NodeRef> {
  return { id: await nodeId(server), endpoint: server.endpoint };
}

/** Somebody who is not at that address. */
export function impostor(ref: NodeRef): NodeRef {
  return { ...ref, id: 'f'.repeat(40) };
}

export async function linesOf(server: Server): Promise<readonly NodeLine[]> {
  return parseClusterNodes(String(await server.call('CLUSTER', 'NODES')));
}

export async function selfOf(server: Server): Promise<NodeLine> {
  const self = (await linesOf(server)).find((line) => line.flags.includes('myself'));
  assert.ok(self);
  return self;
}

export function assertDone(outcome: Outcome): void {
  assert.equal(outcome.status, 'done', JSON.stringify(outcome));
}

export function assertStale(outcome: Outcome, message: RegExp): void {
  assert.equal(outcome.status, 'stale', JSON.stringify(outcome));
  assert.match(outcome.status === 'stale' ? outcome.message : '', message);
}

export function assertFailed(outcome: Outcome, code: string, message: RegExp = /./): void {
  assert.equal(outcome.status, 'failed', JSON.stringify(outcome));
  if (outcome.status !== 'failed') return;
  assert.equal(outcome.code, code);
  assert.match(outcome.message, message);
}
