/**
 * @packageDocumentation
 * A model of Redis Cluster and Valkey Cluster in memory and in virtual time, which enforces the servers' own refusals
 * and passes the same operation cases as real Valkey 9.1 and Redis 7.0 (operators/redis/tests/operations). The Redis
 * 8.4 flavour rests on its source only.
 *
 * Servers act by themselves every 100 ms of virtual time: gossip, failure detection, elections, replication, atomic
 * migrations. Between two turns only commands change them. Everything random comes from the given source.
 *
 * Left out: replicas that wander to other shards by themselves (only the empty primary that follows its last slot is
 * there), partial resynchronisation (every link starts with a full copy), types other than strings, scripts, ACL, TLS,
 * Pub/Sub, hostnames; MIGRATE and WAIT take no time.
 */
export { slotOfKey } from './crc16.ts';
export { type EndpointLike, type ExecuteOptions, type ModelOptions, RedisClusterModel } from './model.ts';
export {
  ConnectionLostError,
  type ModelArg,
  type ModelReply,
  NoAnswerError,
  ServerError,
  UnreachableError,
} from './reply.ts';
export type { ExportState } from './atomic-job.ts';
export type { Flavour } from './features.ts';
export { ModelServer, type ServerOptions } from './server.ts';
export type { MigrateFault, Session } from './session.ts';
