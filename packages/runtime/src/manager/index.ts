/** @packageDocumentation Controllers, and the manager that runs them. */
export { type Api, type Kind, kindName, listWatchOf, type ResourceApi } from '../client/api.ts';
export { Budget, type BudgetRates, budgeted, defaultRates, type Rate } from '../client/budget.ts';
export { guarded, type TermHeaders, type WriteTerm } from '../client/guard.ts';
export { measured } from '../client/measured.ts';
export { classOf, type TrafficClass, trafficClasses } from '../client/traffic.ts';
export { cancelOnChange, type CancelRule } from '../controller/cancel-on-change.ts';
export type { ChildOptions, EventWriter, Reconcile, StatusOf, StatusOptions } from '../controller/context.ts';
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
} from '../controller/controller.ts';
export type { Log } from '../controller/environment.ts';
export { HotLoop, type HotLoopOptions } from '../controller/hot-loop.ts';
export type {
  Absent,
  Companion,
  FinalizerOptions,
  Mapping,
  ObserveOptions,
  Parts,
  Reflection,
  ReflectionOptions,
  ReflectionScope,
  TermContext,
  WorkOptions,
} from '../controller/parts.ts';
export type { PlanOptions, Turn } from '../controller/plan-worker.ts';
export { TerminalError } from '../controller/terminal.ts';
export { type KubeEvent, kubeEvents, type ObjectReference, type Occurrence } from '../events/event.ts';
export { EventRecorder, type RecorderOptions } from '../events/recorder.ts';
export {
  addPatch,
  blockedCondition,
  changeFinalizers,
  FINALIZER_BLOCKED,
  hasFinalizer,
  isBeingDeleted,
  removePatch,
} from '../finalizer/finalizer.ts';
export { Election, type ElectionOptions } from '../lease/election.ts';
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
} from '../lease/fence.ts';
export { installFence, whoAmI } from '../lease/install.ts';
export { type Lease, leases } from '../lease/lease.ts';
export { type FenceState, probeFence } from '../lease/probe.ts';
export { LeaseTerm, SoleTerm, type Term } from '../lease/term.ts';
export { awaitFence, type FencingOptions } from './fencing.ts';
export { answerHealth, type Check, type HealthAnswer, type HealthSource } from './health.ts';
export { Manager, type ManagerOptions, type ManagerPorts } from './manager.ts';
export { type HealthServer, type ServeOptions, serveHealth } from './serve.ts';
export { type Counter, type Gauge, type Histogram, type Labels, type Reading, Registry } from '../metrics/registry.ts';
export { RuntimeMetrics } from '../metrics/runtime-metrics.ts';
