/** @packageDocumentation Redis and Valkey clusters: observe, plan, run. */
export { APPROVE, CLUSTER_LABEL, type RedisCluster, redisClusterKind, type RedisClusterStatus } from './api/cluster.ts';
export type { BackupManifest, BackupStore, SnapshotSource } from './api/backup.ts';
export type { CertificateFacts, Certificates, KeyPair, Life } from './api/certificates.ts';
export type * from './api/commands.ts';
export { redisErrors } from './api/errors.ts';
export type { Finding, FindingCode } from './api/findings.ts';
export type { Right } from './api/rights.ts';
export { type RedisClusterObject, redisClusters, type RedisTaskObject, redisTasks } from './api/kinds.ts';
export { type Decided, type Decision, isRefused, type Needs, type Operation } from './api/operation.ts';
export { type Arg, type CallOptions, type RedisPort, RedisReplyError, type Reply } from './api/port.ts';
export * from './api/slots.ts';
export * from './api/view.ts';
export { type RedisTask, redisTaskKind } from './api/task.ts';
export { type ConnectOptions, connectRedis } from './client/client.ts';
export { presentedCertificate } from './client/presented.ts';
export { rehearseTls } from './client/rehearsal.ts';
export { snapshotSource } from './client/snapshot.ts';
export { type RedisContext, redisContext } from './commands/context.ts';
export { redisHandlers } from './commands/handlers.ts';
export type { RedisOperatorOptions, RedisOperatorPorts } from './controllers/cluster-controller.ts';
export { redisOperator } from './controllers/operator.ts';
export {
  type DryRun,
  type DryRunPorts,
  type FieldChange,
  type ObjectPlan,
  planCluster,
  planTask,
  type StepPlan,
} from './controllers/dry-run/dry-run.ts';
export { folderBackups } from './controllers/backup/system-folder.ts';
export type { Environment, RunEvent } from './controllers/environment.ts';
export {
  createJournal,
  type Journal,
  type JournalEntry,
  type JournalHeader,
  openJournal,
  type StoredJournal,
} from './controllers/journal.ts';
export { operationOfKind } from './controllers/operations.ts';
export { type RollbackRequest, rollbackOperation } from './controllers/rollback.ts';
export {
  type Approval,
  type Proposal,
  propose,
  resumeOperation,
  type RunResult,
  runOperation,
} from './controllers/run.ts';
export { type ObserveOptions, observeCluster } from './observe/observe.ts';
export { type AddNodeRequest, addNodeOperation } from './plan/add-node.ts';
export { checkCluster, isClean } from './plan/check.ts';
export { type CreateRequest, createOperation } from './plan/create.ts';
export { type DeleteNodeRequest, deleteNodeOperation } from './plan/delete-node.ts';
export { type FailoverRequest, failoverOperation } from './plan/failover.ts';
export { type FixRequest, fixOperation } from './plan/fix.ts';
export { printCommand, printDecision, printFindings, printPlan, printView } from './plan/print.ts';
export { type RebalanceRequest, rebalanceOperation } from './plan/rebalance.ts';
export { type ReshardRequest, reshardOperation } from './plan/reshard.ts';
export { type SpreadRequest, spreadOperation } from './plan/spread.ts';
export { type RedisAgentOptions, redisAgent } from './agent/agent.ts';
export { carriersOf, memberOfCommand } from './agent/carrier.ts';
export {
  factsOf,
  MOST_ANNOTATION_BYTES,
  type OthersSeen,
  type RedisFacts,
  reportedFacts,
  type Told,
} from './agent/facts.ts';
export {
  memberExecutor,
  type MemberExecutorPorts,
  memberExecutors,
  type MembersByNode,
  orderSeconds,
} from './agent/member-executor.ts';
export { type LeaseSight, LOST_AFTER_TURNS, lostAt, type Presence, presenceOf, seeLease } from './agent/presence.ts';
export { viewDigest } from './agent/view-digest.ts';
