/**
 * Credential plugins (`client.authentication.k8s.io/v1`): a program prints a token or a client certificate. It runs once
 * for all who wait, again shortly before what it gave expires, and again when the server answers 401.
 */
import { KubeError } from '../errors/errors.ts';
import { stringifyJson } from '../json/stringify.ts';
import { Fields, parseYaml } from '../kubeconfig/fields.ts';
import type { ClusterEntry, ExecEntry } from '../kubeconfig/kubeconfig.ts';
import type { KubePorts, SpawnResult } from '../ports/ports.ts';

export interface ExecCredential {
  readonly token: string | undefined;
  readonly certificate: string | undefined;
  readonly key: string | undefined;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number | undefined;
}

/** Asked for again this long before the end, so that no request goes out with a credential that ends on its way. */
const MARGIN_MS = 60_000;

export type ExecPorts = Pick<KubePorts, 'clock' | 'spawn' | 'env' | 'interactive'>;

export class ExecPlugin {
  readonly #entry: ExecEntry;
  readonly #cluster: () => Promise<ExecCluster>;
  readonly #ports: ExecPorts;
  #current: { readonly credential: ExecCredential; readonly until: number } | undefined;
  #running: Promise<ExecCredential> | undefined;

  constructor(entry: ExecEntry, cluster: () => Promise<ExecCluster>, ports: ExecPorts) {
    this.#entry = entry;
    this.#cluster = cluster;
    this.#ports = ports;
  }

  get(): Promise<ExecCredential> {
    if (this.#running) return this.#running;
    if (this.#current && this.#ports.clock.now() < this.#current.until)
      return Promise.resolve(this.#current.credential);
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** The server did not accept `used`. When something newer is here or on its way, that is the answer. */
  reject(used: ExecCredential): void {
    if (this.#current?.credential === used) this.#current = undefined;
  }

  async #run(): Promise<ExecCredential> {
    const { clock, spawn, env, interactive } = this.#ports;
    const { command, args, interactiveMode, provideClusterInfo } = this.#entry;
    if (interactiveMode === 'Always' && !interactive) {
      throw this.#failure('it must ask the user (interactiveMode: Always), and there is no terminal');
    }
    const asks = interactiveMode !== 'Never' && interactive;
    const info = {
      apiVersion: this.#entry.apiVersion,
      kind: 'ExecCredential',
      spec: { interactive: asks, ...(provideClusterInfo ? { cluster: await this.#cluster() } : {}) },
    };
    let result: SpawnResult;
    try {
      result = await spawn({
        command,
        args,
        env: { ...env, ...this.#entry.env, KUBERNETES_EXEC_INFO: stringifyJson(info) },
        interactive: asks,
      });
    } catch (error) {
      const hint = this.#entry.installHint === undefined ? '' : `. ${this.#entry.installHint}`;
      throw this.#failure(
        `it cannot be started: ${error instanceof Error ? error.message : String(error)}${hint}`,
        error,
      );
    }
    // Not its output: that is where the secret would be.
    const lastWords = result.stderr.trim().split('\n').at(-1)?.slice(0, 300) ?? '';
    if (result.code !== 0) throw this.#failure(`it ended with ${result.code}${lastWords && `: ${lastWords}`}`);
    const credential = this.#read(result.stdout);
    const now = clock.now();
    // A short life must not make every request start the plugin.
    const margin = Math.min(MARGIN_MS, ((credential.expiresAt ?? 0) - now) / 10);
    this.#current = {
      credential,
      until: credential.expiresAt === undefined ? Infinity : credential.expiresAt - margin,
    };
    return credential;
  }

  #read(output: string): ExecCredential {
    const { command, apiVersion } = this.#entry;
    try {
      const top = new Fields(parseYaml(output, command), command);
      if (top.text('apiVersion') !== apiVersion) throw top.invalid(`is not ${apiVersion}`, 'apiVersion');
      if (top.text('kind') !== 'ExecCredential') throw top.invalid('is not ExecCredential', 'kind');
      const status = top.map('status');
      if (!status) throw top.invalid('is missing', 'status');
      const token = status.text('token');
      const certificate = status.text('clientCertificateData');
      const key = status.text('clientKeyData');
      if ((certificate === undefined) !== (key === undefined)) throw status.invalid('has a certificate or a key alone');
      if (token === undefined && certificate === undefined) throw status.invalid('has neither token nor certificate');
      const expires = status.text('expirationTimestamp');
      const expiresAt = expires === undefined ? undefined : Date.parse(expires);
      if (Number.isNaN(expiresAt)) throw status.invalid('is not a time', 'expirationTimestamp');
      return { token, certificate, key, expiresAt };
    } catch (error) {
      throw this.#failure(`its output is wrong: ${error instanceof Error ? error.message : String(error)}`, error);
    }
  }

  #failure(problem: string, cause?: unknown): KubeError {
    const { command } = this.#entry;
    return new KubeError('KUBE_CREDENTIALS', `credential plugin ${command}: ${problem}`, {
      subjects: [command],
      cause,
    });
  }
}

/** What a plugin is told of the cluster when it asks (`provideClusterInfo`). */
export interface ExecCluster {
  readonly server: string;
  readonly 'tls-server-name'?: string;
  readonly 'insecure-skip-tls-verify'?: boolean;
  readonly 'certificate-authority-data'?: string;
  readonly config?: unknown;
}

export function execCluster(cluster: ClusterEntry, ca: string | undefined): ExecCluster {
  return {
    server: cluster.server,
    ...(cluster.tlsServerName === undefined ? {} : { 'tls-server-name': cluster.tlsServerName }),
    ...(cluster.insecure ? { 'insecure-skip-tls-verify': true } : {}),
    ...(ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
    ...(cluster.execConfig === undefined ? {} : { config: cluster.execConfig }),
  };
}
