/**
 * @packageDocumentation The blocks of the controller runtime. Each can be used alone. Controllers and the manager, which bring a Kubernetes
 * client along, are in `@reeve/runtime/manager`.
 */
export { type BackoffOptions, backoffMs, queueBackoff, reflectorBackoff } from './backoff/backoff.ts';
export {
  type Command,
  type DoneCheck,
  done,
  doneThen,
  failed,
  type Handle,
  type HandlerOutcome,
  type InFlight,
  type Outcome,
  type Progress,
  type Run,
  stale,
} from './command/command.ts';
export {
  type AnyHandler,
  type Executor,
  type Executors,
  type Handler,
  isHandle,
  type LocalExecutor,
  type LocalExecutorOptions,
  localExecutor,
  localExecutors,
} from './command/executor.ts';
export { type Ended, Flights } from './command/flights.ts';
export { canonicalJson, digest } from './digest/digest.ts';
export { asReeveError, type ErrorCatalog, type ErrorDescription, ReeveError, runtimeErrors } from './errors/errors.ts';
export { type Known, type Knowledge, known, type Unknown, unknown, valueOf } from './plan/known.ts';
export {
  isReached,
  type Plan,
  type Planner,
  type Refusal,
  reached,
  refuse,
  type Waiting,
  waitFor,
} from './plan/plan.ts';
export { type Deadline, deadline } from './ports/deadline.ts';
export { giveWay } from './ports/give-way.ts';
export type { Clock, Files, Ids, Ports, Random } from './ports/ports.ts';
export {
  systemAfterwards,
  systemClock,
  systemFiles,
  systemIds,
  systemMakeFolder,
  systemPorts,
  systemRandom,
  systemSecret,
  systemWallNow,
} from './ports/system.ts';
export type { Lane } from './queue/fair-share.ts';
export type { QueueMetrics, QueueStats } from './queue/metrics.ts';
export type { QueueOptions } from './queue/options.ts';
export { type AddOptions, type CloseOptions, takeFrom, WorkQueue } from './queue/queue.ts';
export type { Taken } from './queue/takers.ts';
export { again, finished, requeueAfter, retry, type Verdict, wakeAt } from './queue/verdict.ts';
export { type CacheFailure, type CacheOptions, type Replacement, ResourceCache } from './cache/cache.ts';
export { Gate, type GateClock } from './cache/gate.ts';
export type { IndexFunction } from './cache/indexes.ts';
export { type CacheScope, demandScope } from './cache/scope.ts';
export { type DeepReadonly, keyOf, type Metadata, type Resource, type ResourceEvent } from './resource/resource.ts';
export { Newest } from './resource/newest.ts';
export {
  type KubeResource,
  type ObjectClient,
  type ObjectMetadata,
  type Objects,
  type Written,
  written,
} from './resource/objects.ts';
export { compareVersions, hasReached, isComparable } from './resource/version.ts';
export {
  type Abortable,
  type Failure,
  failureOf,
  type ListPage,
  type ListRequest,
  type ListWatch,
  type WatchMessage,
  type WatchRequest,
} from './reflector/port.ts';
export { Reflector, type ReflectorPorts, type ReflectorSetup } from './reflector/reflector.ts';
export { type Destination, type Route, routeEvents } from './reflector/route.ts';
export { Slots } from './reflector/slots.ts';
export {
  type Effect,
  type Input,
  initial as initialReflectorState,
  type ReflectorOptions,
  type ReflectorState,
  reflectorDefaults,
} from './reflector/state.ts';
export { type Moment, type Step, step as reflectorStep } from './reflector/step.ts';
export { Changes, type Look } from './observer/changes.ts';
export { Observer, type ObserverOptions, type ObserverPorts } from './observer/observer.ts';
export { Observers } from './observer/observers.ts';
export { Cancelled, type CancelReason } from './worker/cancelled.ts';
export { type Work, type WorkerOptions, Workers } from './worker/workers.ts';
export {
  type Condition,
  conditionOf,
  microTimestamp,
  type NewCondition,
  setCondition,
  setConditions,
  timestamp,
  withoutCondition,
} from './conditions/conditions.ts';
export {
  type Candidate,
  HISTORY_LIMIT,
  type Operation,
  type OperationClass,
  type OperationOutcome,
  type OperationStatus,
  operationClasses,
  type PastOperation,
  type Trigger,
} from './operation/operation.ts';
export { Ledger, type LedgerOptions, type LedgerResource } from './operation/ledger.ts';
export { compareCandidates, type Decision, decideOperation, pickNext } from './operation/pick.ts';
export { type ClusterTurn, type OperationTurn, type OperationWork, operationTurn } from './operation/turn.ts';
export { finalizerHold, type TaskHold } from './task/hold.ts';
export { type TaskContext, type TaskRef, TaskRunner, type TaskRunnerOptions, type TaskTurn } from './task/runner.ts';
export {
  isDeleting,
  isEnded,
  type PodPhase,
  type TaskClass,
  type TaskDefinition,
  type TaskMember,
  type TaskPhase,
  type TaskPod,
  type TaskResource,
  type TaskStatus,
} from './task/task.ts';
export {
  type Column,
  crdOf,
  type Kind,
  type KindDescription,
  type KindObject,
  kind,
  type ObjectOf,
} from './schema/kind.ts';
export * as schema from './schema/schema.ts';
export { toYaml } from './schema/yaml.ts';
export { listWatchOf, type ResourceApi } from './client/api.ts';
export { Agent, type AgentOptions, type AgentPorts } from './agent/agent.ts';
export { MemberOrders, type MemberOrdersOptions, type MemberRef } from './agent/executor.ts';
export { leaseKind } from './lease/kind.ts';
export {
  type LeaseClient,
  type LeaseObject,
  LeaseWatch,
  leaseNameOf,
  MEMBER_LEASE_LABEL,
  MemberLease,
} from './agent/lease.ts';
export {
  isReportCurrent,
  type Member,
  type MemberStatus,
  memberKind,
  MOST_ORDERS,
  MOST_REPORT_BYTES,
  type Order,
  type OrderPhase,
  type OrderResult,
} from './agent/member.ts';
export {
  AGENT_ACCOUNT,
  AGENT_POLICY,
  AGENT_ROLE,
  hostAgentRights,
  memberWritePolicy,
  podAgentRights,
  podAgentRole,
} from './agent/policy.ts';
export type { NodeView } from './agent/report.ts';
