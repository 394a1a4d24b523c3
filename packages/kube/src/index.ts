/** @packageDocumentation A thin Kubernetes client: kubeconfig, typed resources, list, watch, apply. */
export { isKubeError, KubeError, type KubeErrorCode, type KubeErrorOptions, kubeErrors } from './errors/errors.ts';
export { DEFAULT_MAX_DEPTH, type Json, type ParseOptions, parseJson } from './json/parse.ts';
export { stringifyJson } from './json/stringify.ts';
export { heldValues } from './object/lazy.ts';
export { isStatus, type Status, type StatusCause, type StatusDetails } from './object/status.ts';
export {
  type AnyObject,
  type KubeList,
  type KubeObject,
  keyOf,
  type ListMeta,
  type ManagedFieldsEntry,
  type ObjectMeta,
  type OwnerReference,
  type Stored,
} from './object/object.ts';
export {
  apiPath,
  apiVersionOf,
  metadataOnly,
  type Resource,
  resource,
  resourcePath,
  splitApiVersion,
} from './object/resource.ts';
export { compareVersions, isAtLeast } from './object/version.ts';
export { INITIAL_EVENTS_END, type WatchEvent } from './object/watch-event.ts';
export { type Access, accessOf, type Identity, type TlsMaterial } from './auth/access.ts';
export type {
  ClusterEntry,
  ContextEntry,
  ExecEntry,
  Impersonation,
  InteractiveMode,
  Kubeconfig,
  ResolvedContext,
  Source,
  UserEntry,
} from './kubeconfig/kubeconfig.ts';
export { type LoadOptions, loadContext, loadKubeconfig, mergeKubeconfigs, resolveContext } from './kubeconfig/load.ts';
export { readKubeconfig } from './kubeconfig/read.ts';
export type { Clock, FileReader, KubePorts, Random, Spawn, SpawnRequest, SpawnResult } from './ports/ports.ts';
export { systemKubePorts } from './ports/system.ts';
export type { Streamed } from './client/caller.ts';
export { type ClientOptions, KubeClient, type StreamOptions } from './client/client.ts';
export { type ConnectOptions, type Connection, connect } from './client/connect.ts';
export type {
  AnswerOptions,
  ApplyOptions,
  CallOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  ReadOptions,
  Selection,
  WatchOptions,
  WriteOptions,
} from './client/options.ts';
export {
  type JsonPatchStep,
  type Patch,
  ResourceClient,
  type Scale,
  type WholeList,
} from './client/resource-client.ts';
export { discover, type KindName, resourcesOf, servedResources, type ServedResource } from './discovery/discovery.ts';
export type { Http1Options } from './transport/http1.ts';
export type { Http2Options } from './transport/http2.ts';
export type { KubeSocket, OpenSocket, SocketRequest } from './transport/socket.ts';
export { authenticated, type Network, type NetworkOptions, networkTransport } from './transport/network.ts';
export {
  discardBody,
  readBody,
  type Transport,
  type TransportRequest,
  type TransportResponse,
} from './transport/transport.ts';
