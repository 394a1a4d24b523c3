/** The cluster's own authority and what it signs. Made anew for every cluster, gone with its folder. */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runOrThrow } from '../binaries/run.ts';
import { giveToServerUser } from '../servers/process.ts';

export interface KeyPair {
  readonly certFile: string;
  readonly keyFile: string;
  /** PEM. */
  readonly cert: string;
  readonly key: string;
}

export interface Subject {
  /** The user's name, for Kubernetes. */
  readonly name: string;
  readonly groups?: readonly string[];
  /** `DNS:…`, `IP:…`: for servers. */
  readonly altNames?: readonly string[];
  /** Default 30. A negative number makes a certificate that has expired. */
  readonly days?: number;
}

export class Authority {
  readonly caFile: string;
  readonly ca: string;
  readonly #folder: string;
  #made = 0;

  private constructor(folder: string) {
    this.#folder = folder;
    this.caFile = join(folder, 'ca.crt');
    this.ca = readFileSync(this.caFile, 'utf8');
  }

  /** @param folder is empty and belongs to the servers' user. */
  static async make(folder: string): Promise<Authority> {
    const subject = ['-days', '30', '-subj', '/CN=Reeve rig', '-keyout', 'ca.key', '-out', 'ca.crt'];
    await runOrThrow('openssl', ['req', '-x509', ...NEW_KEY, ...subject], { cwd: folder });
    return new Authority(folder);
  }

  /** The same authority can sign for the cluster, too. */
  get keyFile(): string {
    return join(this.#folder, 'ca.key');
  }

  async sign({ name, groups = [], altNames = [], days = 30 }: Subject): Promise<KeyPair> {
    const base = `${++this.#made}-${name.replace(/[^\w-]/g, '-')}`;
    const path = (end: string) => join(this.#folder, base + end);
    const [keyFile, request, extensions, certFile] = [path('.key'), path('.csr'), path('.ext'), path('.crt')];
    writeFileSync(
      extensions,
      [
        'basicConstraints=critical,CA:FALSE',
        `extendedKeyUsage=${altNames.length > 0 ? 'serverAuth' : 'clientAuth'}`,
        ...(altNames.length > 0 ? [`subjectAltName=${altNames.join(',')}`] : []),
      ].join('\n'),
    );
    const subject = [...groups.map((group) => `/O=${escaped(group)}`), `/CN=${escaped(name)}`].join('');
    await runOrThrow('openssl', ['req', '-new', ...NEW_KEY, '-subj', subject, '-keyout', keyFile, '-out', request]);
    // Not a counter in a file: several are signed at once.
    const serial = ['-set_serial', `0x${randomBytes(16).toString('hex')}`];
    const ca = ['-CA', this.caFile, '-CAkey', this.keyFile, ...serial, '-days', String(days)];
    await runOrThrow('openssl', ['x509', '-req', '-in', request, ...ca, '-extfile', extensions, '-out', certFile]);
    giveToServerUser(keyFile, certFile);
    return { certFile, keyFile, cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
  }

  /** What service account tokens are signed with, and proven by. */
  async serviceAccountKeys(): Promise<{ readonly privateFile: string; readonly publicFile: string }> {
    const [privateFile, publicFile] = [join(this.#folder, 'sa.key'), join(this.#folder, 'sa.pub')];
    await runOrThrow('openssl', ['ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', privateFile]);
    await runOrThrow('openssl', ['ec', '-in', privateFile, '-pubout', '-out', publicFile]);
    giveToServerUser(privateFile, publicFile, this.caFile, this.keyFile);
    return { privateFile, publicFile };
  }
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

const escaped = (text: string): string => text.replace(/[/\\]/g, '\\$&');

/** A whole kubeconfig in one file, with nothing beside it. */
export function kubeconfigText(server: string, ca: string, user: Pick<KeyPair, 'cert' | 'key'>): string {
  const data = (pem: string) => Buffer.from(pem).toString('base64');
  return `apiVersion: v1
kind: Config
clusters:
- name: rig
  cluster:
    server: ${server}
    certificate-authority-data: ${data(ca)}
users:
- name: rig
  user:
    client-certificate-data: ${data(user.cert)}
    client-key-data: ${data(user.key)}
contexts:
- name: rig
  context:
    cluster: rig
    user: rig
current-context: rig
`;
}
