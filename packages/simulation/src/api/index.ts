/** @packageDocumentation The embedded API server as the world of simulations and of tests of controllers. */
export { type Snapshot, type SnapshotOptions, snapshotOf } from './snapshot.ts';
export { simulatedTransport } from './transport.ts';
export { type ApiObject, ApiWorld, type ApiWorldOptions, type ApiWrite } from './world.ts';
