/** @packageDocumentation How tests, proofs and benchmarks get real servers. Loopback only; nothing here is published. */
export { pathWithBubblewrap } from './binaries/bubblewrap.ts';
export { cached } from './binaries/cache.ts';
export { openPage, type Page } from './browser.ts';
export { builtFromGo, type GoBuild } from './binaries/go-build.ts';
export { redisCli, redisServer, valkeyCli, valkeyServer } from './binaries/find.ts';
export { type Program, runProgram } from './binaries/program.ts';
export { type Finished, run, runOrThrow } from './binaries/run.ts';
export * from './damage.ts';
export {
  type CliAccess,
  cliAccessArguments,
  clusterCli,
  type Expected,
  invariants,
  type ServerCheck,
  serverCheck,
} from './oracle.ts';
export { accessArguments, addressOf, REEVE, type ReeveOptions, type ReeveRun, reeveRedis } from './reeve.ts';
export { RedirectingClient, type Retries } from './redirecting-client.ts';
export { writeResult } from './result.ts';
export {
  type Cluster,
  type ClusterOptions,
  evenShares,
  meetAll,
  nodeId,
  startCluster,
  waitUntilAgreed,
  waitUntilFormed,
} from './servers/cluster.ts';
export type { Product, ServerOptions } from './servers/config.ts';
export {
  type Access,
  type Connection,
  connect,
  type Endpoint,
  isErrorReply,
  once,
  type Reply,
} from './servers/connection.ts';
export { type NodesLine, parseNodes } from './servers/nodes.ts';
export { freePort } from './servers/ports.ts';
export { temporaryFolder } from './servers/process.ts';
export { type Server, startServer, startServers } from './servers/server.ts';
export { type Certificates, makeCertificates } from './servers/tls.ts';
export { until } from './servers/until.ts';
export { keySlot, tagForSlot } from './slot.ts';
export { ETCD_VERSION, KUBE_VERSION } from './kube/build.ts';
export { ANYTHING, type CustomKind, definitionOf } from './kube/definition.ts';
export { Authority, kubeconfigText } from './kube/pki.ts';
export { type Kube, type KubeOptions, type KubeUser, startKube } from './kube/kube.ts';
export { kubeProgram } from './kube/programs.ts';
export { type Relay, startRelay } from './kube/relay.ts';
export { type Latency, startTraffic, type Traffic, type TrafficOptions, type TrafficResult } from './traffic.ts';
