/**
 * @packageDocumentation The blocks of the controller runtime. Each can be used alone. Controllers and the manager, which bring a Kubernetes
 * client along, are in `@reeve/runtime/manager`.
 */
export { type BackoffOptions, backoffMs, queueBackoff, reflectorBackoff } from './backoff/backoff.ts';
export {
  type Command,
  done,
  failed,
  type Handle,
  type InFlight,
  type Outcome,
  type Progress,
  stale,
} from './command/command.ts';
export { type AnyHandler, type Executor, type Handler, isHandle, localExecutor } from './command/executor.ts';
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
export { systemClock, systemFiles, systemIds, systemPorts, systemRandom } from './ports/system.ts';
export type { Lane } from './queue/fair-share.ts';
export type { QueueMetrics, QueueStats } from './queue/metrics.ts';
export type { QueueOptions } from './queue/options.ts';
export { type AddOptions, type CloseOptions, takeFrom, WorkQueue } from './queue/queue.ts';
export type { Taken } from './queue/takers.ts';
export { again, finished, requeueAfter, retry, type Verdict, wakeAt } from './queue/verdict.ts';
export { type CacheOptions, type Replacement, ResourceCache } from './cache/cache.ts';
export { Gate, type GateClock } from './cache/gate.ts';
export type { IndexFunction } from './cache/indexes.ts';
export { type CacheScope, demandScope } from './cache/scope.ts';
export { type DeepReadonly, keyOf, type Metadata, type Resource, type ResourceEvent } from './resource/resource.ts';
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
