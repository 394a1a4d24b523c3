/** A model of Redis Cluster and Valkey Cluster that enforces the servers' own refusals. */
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
