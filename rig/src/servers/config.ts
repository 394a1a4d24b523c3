/** The configuration file of a test server. */
import type { Certificates } from './tls.ts';

export type Product = 'valkey' | 'redis';

export interface ServerOptions {
  readonly product: Product;
  /** 127.0.0.1, or another 127.x address: each then looks like a host of its own to the cluster. */
  readonly host?: string;
  readonly port?: number;
  /** cluster-node-timeout. Default 5000: on a busy machine a shorter one makes failovers nobody asked for. */
  readonly nodeTimeoutMs?: number;
  readonly clusterEnabled?: boolean;
  readonly tls?: Certificates;
  /** Lines of an ACL file: `user admin on >secret ~* &* +@all`. */
  readonly users?: readonly string[];
  /** With `users`: who the rig and the replication links log in as. */
  readonly username?: string;
  /** Without `users`: requirepass. */
  readonly password?: string;
  readonly appendOnly?: boolean;
  /** `enable-debug-command`. Default `local`: damage needs it. */
  readonly debugCommand?: 'yes' | 'local' | 'no';
  /** Peers reach the cluster bus through a relay that tests can cut. */
  readonly busProxy?: boolean;
  /** Further lines, after ours. */
  readonly extraConfig?: readonly string[];
  /** Kept after stop when given; else a temporary folder. */
  readonly dir?: string;
}

export const NODES_FILE = 'nodes.conf';

export function configText(options: ServerOptions, host: string, port: number, announcedBusPort?: number): string {
  const { tls } = options;
  const cluster = options.clusterEnabled ?? true;
  const lines = [
    `bind ${host}`,
    `port ${tls ? 0 : port}`,
    'daemonize no',
    'protected-mode no',
    'save ""',
    `appendonly ${options.appendOnly ? 'yes' : 'no'}`,
    `enable-debug-command ${options.debugCommand ?? 'local'}`,
    // Without this a new replica waits 5 s for others to join the same snapshot.
    'repl-diskless-sync-delay 0',
    'maxclients 2000',
  ];
  if (cluster) {
    lines.push(
      'cluster-enabled yes',
      `cluster-config-file ${NODES_FILE}`,
      `cluster-node-timeout ${options.nodeTimeoutMs ?? 5000}`,
      // Replicas stay where they were put: the manager places them, and tests must see what it did.
      'cluster-allow-replica-migration no',
      `cluster-port ${busPort(port)}`,
    );
  }
  if (cluster && announcedBusPort !== undefined) lines.push(`cluster-announce-bus-port ${announcedBusPort}`);
  if (host !== '127.0.0.1') {
    // On loopback every connection comes from 127.0.0.1 unless told otherwise, and peers would learn that address.
    lines.push(`bind-source-addr ${host}`);
    if (cluster) lines.push(`cluster-announce-ip ${host}`);
  }
  if (tls) {
    lines.push(
      `tls-port ${port}`,
      'tls-cert-file tls/server.crt',
      'tls-key-file tls/server.key',
      'tls-ca-cert-file tls/ca.crt',
      'tls-replication yes',
      'tls-auth-clients yes',
    );
    if (cluster) lines.push('tls-cluster yes');
  }
  if (options.users) lines.push('aclfile users.acl');
  else if (options.password) lines.push(`requirepass ${options.password}`);
  if (options.password) lines.push(`masterauth ${options.password}`);
  if (options.username) lines.push(`masteruser ${options.username}`);
  lines.push(...(options.extraConfig ?? []));
  return `${lines.join('\n')}\n`;
}

/** The bus port: 10000 above where that exists. */
export function busPort(port: number): number {
  return port + 10_000 <= 65_535 ? port + 10_000 : port - 10_000;
}
