/**
 * Node's test runner follows every promise from its making to its collection, only to know which test an error belongs
 * to that nobody caught. That was a tenth of the processor time of all unit tests. Here it follows timers, sockets and
 * the like, but no promises; such an error then fails the process instead of one of its tests, and is told with its
 * stack.
 *
 * Load this before anything that imports `node:test`: the runner takes `createHook` when it is loaded.
 */
import type { HookCallbacks } from 'node:async_hooks';

const hooks = process.getBuiltinModule('node:async_hooks');
const { createHook } = hooks;

/** Node only counts what comes while its tests run. Whatever comes later, and would be heard here alone, fails the process, too. */
const tell = (error: unknown): void => {
  console.error('nobody caught:', error);
  process.exitCode = 1;
};

/** Called when the first test of a process is declared; a process without tests keeps its ways. */
const createLightHook = (callbacks: HookCallbacks) => {
  process.on('uncaughtExceptionMonitor', tell);
  process.on('unhandledRejection', tell);
  return createHook({ ...callbacks, trackPromises: false });
};

Object.assign(hooks, { createHook: createLightHook });
await import('node:test');
Object.assign(hooks, { createHook });
