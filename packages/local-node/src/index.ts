/** @packageDocumentation Pods as processes, and the controllers and the scheduler that Kubernetes has for them. */
export * from './kinds/pod.ts';
export { type Node, type NodeCondition, nodes, type Taint } from './kinds/node.ts';
export { type Volume, volumeClaims, volumes } from './kinds/volumeclaim.ts';
export { localNodeErrors } from './errors/errors.ts';
export type { Driver, DriverName } from './driver/driver.ts';
export { type Detected, detectDrivers, type DriverReport } from './driver/detect.ts';
export { plainDriver } from './driver/plain.ts';
export type { Host, HostFiles, Processes } from './host/host.ts';
export { isMarkedThere, ownMark, type ProcessMark } from './host/process-mark.ts';
export { systemCapacity, systemFacts, systemHost } from './host/system-host.ts';
export {
  type Availability,
  Catalog,
  type CatalogOptions,
  type FetchNews,
  type ImageReport,
} from './catalog/catalog.ts';
export { imageCacheFolder } from './catalog/cache.ts';
export { catalogEntries } from './catalog/entries.ts';
export { hostImages, type Images, type NoImage, type ResolvedImage } from './image/images.ts';
export { AddressPool } from './node/addresses.ts';
export type { LogOptions } from './node/logs.ts';
export type { ExecOptions, StreamOptions } from './node/exec.ts';
export type { NodeFacts, SystemFacts } from './node/facts.ts';
export { LocalNode, type LocalNodeOptions, type NodePorts } from './node/local-node.ts';
export type { ContainerPlace } from './node/pod-access.ts';
export * from './controllers/index.ts';
