/** @packageDocumentation The blocks of the controller runtime. In this release: ports, plans, commands, errors. */
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
