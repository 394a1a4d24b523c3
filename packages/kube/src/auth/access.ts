/** Who we are and whom we trust, asked before every request because both may change while we run. */
import { KubeError } from '../errors/errors.ts';
import type { ResolvedContext } from '../kubeconfig/kubeconfig.ts';
import type { KubePorts } from '../ports/ports.ts';
import { ChangingText } from './changing.ts';
import { type ExecCredential, ExecPlugin, execCluster } from './exec.ts';

/** PEM texts. The same object as long as nothing changed, so that connections can be kept by identity. */
export interface TlsMaterial {
  readonly ca: string | undefined;
  readonly certificate: string | undefined;
  readonly key: string | undefined;
  readonly serverName: string | undefined;
  readonly insecure: boolean;
}

/** What one request goes out with. */
export interface Identity {
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly tls: TlsMaterial;
}

export interface Access {
  readonly server: URL;
  identity(): Promise<Identity>;
  /** The server answered 401 to `used`. True when another identity may do better: ask for it and try once more. */
  rejected(used: Identity): Promise<boolean>;
}

/** @param context checked by `resolveContext`. */
export function accessOf(
  context: ResolvedContext,
  ports: Pick<KubePorts, 'clock' | 'files' | 'spawn' | 'env' | 'interactive'>,
): Access {
  return new ContextAccess(context, ports);
}

class ContextAccess implements Access {
  readonly server: URL;
  readonly #context: ResolvedContext;
  readonly #ca: ChangingText | undefined;
  readonly #certificate: ChangingText | undefined;
  readonly #key: ChangingText | undefined;
  readonly #token: ChangingText | undefined;
  readonly #exec: ExecPlugin | undefined;
  /** Which credential of the plugin an identity was made of. */
  readonly #made = new WeakMap<Identity, ExecCredential>();
  #last: Identity | undefined;

  constructor(context: ResolvedContext, ports: Pick<KubePorts, 'clock' | 'files' | 'spawn' | 'env' | 'interactive'>) {
    const { cluster, user } = context;
    const text = (source: Parameters<typeof changing>[0]) => changing(source, ports);
    this.server = new URL(cluster.server);
    this.#context = context;
    this.#ca = text(cluster.ca);
    this.#certificate = text(user.certificate);
    this.#key = text(user.key);
    this.#token = text(user.token);
    // As kubectl: whoever has a token or password does not ask the plugin.
    if (user.exec && !user.token && !user.basic) {
      const info = async () => execCluster(cluster, await this.#ca?.get());
      this.#exec = new ExecPlugin(user.exec, info, ports);
    }
    if (this.server.protocol === 'http:' && (user.token || user.basic || user.exec) && !isLoopback(this.server)) {
      throw new KubeError(
        'KUBECONFIG_UNSUPPORTED',
        `context '${context.name}': credentials are not sent over plain http to ${this.server.host}`,
        { subjects: [context.name] },
      );
    }
  }

  async identity(): Promise<Identity> {
    const { cluster, user } = this.#context;
    const given = await this.#exec?.get();
    const token = given?.token ?? (await this.#token?.get())?.trim();
    const headers: Record<string, string | readonly string[]> = {};
    if (token !== undefined) headers.authorization = `Bearer ${token}`;
    else if (user.basic) {
      const { username, password } = user.basic;
      headers.authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
    }
    if (user.impersonate) {
      const { user: as, uid, groups, extra } = user.impersonate;
      headers['impersonate-user'] = as;
      if (uid !== undefined) headers['impersonate-uid'] = uid;
      if (groups.length > 0) headers['impersonate-group'] = groups;
      for (const [name, values] of Object.entries(extra)) {
        headers[`impersonate-extra-${encodeURIComponent(name).toLowerCase()}`] = values;
      }
    }
    const fresh: Identity = {
      headers,
      tls: {
        ca: await this.#ca?.get(),
        certificate: given?.certificate ?? (await this.#certificate?.get()),
        key: given?.key ?? (await this.#key?.get()),
        serverName: cluster.tlsServerName,
        insecure: cluster.insecure,
      },
    };
    const identity = this.#last === undefined ? fresh : keepEqual(this.#last, fresh);
    this.#last = identity;
    if (given) this.#made.set(identity, given);
    return identity;
  }

  async rejected(used: Identity): Promise<boolean> {
    const credential = this.#made.get(used);
    if (this.#exec && credential) {
      this.#exec.reject(credential);
      return true;
    }
    let changeable = false;
    for (const text of [this.#token, this.#certificate, this.#key]) if (text?.expire()) changeable = true;
    // Only worth another try when the files hold something else by now.
    return changeable && (await this.identity()) !== used;
  }
}

function changing(
  source: ConstructorParameters<typeof ChangingText>[0] | undefined,
  ports: ConstructorParameters<typeof ChangingText>[1],
): ChangingText | undefined {
  return source && new ChangingText(source, ports);
}

function keepEqual(last: Identity, fresh: Identity): Identity {
  const sameTls = (Object.keys(fresh.tls) as (keyof TlsMaterial)[]).every((key) => last.tls[key] === fresh.tls[key]);
  const sameHeaders = JSON.stringify(last.headers) === JSON.stringify(fresh.headers);
  if (sameTls && sameHeaders) return last;
  return { headers: fresh.headers, tls: sameTls ? last.tls : fresh.tls };
}

function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname);
}
