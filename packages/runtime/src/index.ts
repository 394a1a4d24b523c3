/** @packageDocumentation The blocks of the controller runtime. Each can be used alone. */
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
export { type Api, type Kind, kindName, listWatchOf, type ResourceApi } from './client/api.ts';
export { Budget, type BudgetRates, budgeted, defaultRates, type Rate } from './client/budget.ts';
export { guarded, type TermHeaders, type WriteTerm } from './client/guard.ts';
export { measured } from './client/measured.ts';
export { classOf, type TrafficClass, trafficClasses } from './client/traffic.ts';
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
export { cancelOnChange, type CancelRule } from './controller/cancel-on-change.ts';
export type { ChildOptions, EventWriter, Reconcile, StatusOf } from './controller/context.ts';
export {
  type AnyOwned,
  type AnyWatched,
  Controller,
  type ControllerDescription,
  controller,
  type Owned,
  owning,
  type Runnable,
  type Watched,
  watching,
} from './controller/controller.ts';
export type { Log } from './controller/environment.ts';
export { HotLoop, type HotLoopOptions } from './controller/hot-loop.ts';
export type {
  FinalizerOptions,
  Mapping,
  ObserveOptions,
  Parts,
  Reflection,
  ReflectionOptions,
  ReflectionScope,
  WorkOptions,
} from './controller/parts.ts';
export type { PlanOptions, Turn } from './controller/plan-worker.ts';
export { TerminalError } from './controller/terminal.ts';
export { type KubeEvent, kubeEvents, type ObjectReference, type Occurrence } from './events/event.ts';
export { EventRecorder, type RecorderOptions } from './events/recorder.ts';
export {
  addPatch,
  blockedCondition,
  changeFinalizers,
  FINALIZER_BLOCKED,
  hasFinalizer,
  isBeingDeleted,
  removePatch,
} from './finalizer/finalizer.ts';
export { Election, type ElectionOptions } from './lease/election.ts';
export {
  byImpersonation,
  byPod,
  FENCE_EXTRA,
  type FenceCarrier,
  type FenceOptions,
  type FenceRule,
  fence,
  fenceRole,
  podIdentity,
  policies,
  policyBindings,
  type PolicyObject,
  type RoleObject,
} from './lease/fence.ts';
export { installFence, whoAmI } from './lease/install.ts';
export { type Lease, leases } from './lease/lease.ts';
export { type FenceState, probeFence } from './lease/probe.ts';
export { LeaseTerm, SoleTerm, type Term } from './lease/term.ts';
export { awaitFence, type FencingOptions } from './manager/fencing.ts';
export { answerHealth, type Check, type HealthAnswer, type HealthSource } from './manager/health.ts';
export { Manager, type ManagerOptions, type ManagerPorts } from './manager/manager.ts';
export { type HealthServer, type ServeOptions, serveHealth } from './manager/serve.ts';
export { type Counter, type Gauge, type Histogram, type Labels, type Reading, Registry } from './metrics/registry.ts';
export { RuntimeMetrics } from './metrics/runtime-metrics.ts';
