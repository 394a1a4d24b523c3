/** One kubeconfig file as a value. Paths in it are relative to its folder. */
import { isAbsolute, join } from 'node:path';
import { Fields, parseYaml } from './fields.ts';
import type {
  ClusterEntry,
  ContextEntry,
  ExecEntry,
  Impersonation,
  InteractiveMode,
  Kubeconfig,
  Source,
  UserEntry,
} from './kubeconfig.ts';

const EXEC_EXTENSION = 'client.authentication.k8s.io/exec';
const EXEC_VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];
const INTERACTIVE: readonly InteractiveMode[] = ['Never', 'IfAvailable', 'Always'];

/** @param folder of the file, absolute. */
export function readKubeconfig(text: string, file: string, folder: string): Kubeconfig {
  const top = new Fields(parseYaml(text, file), file);
  const path = (name: string): string => (isAbsolute(name) ? name : join(folder, name));
  return {
    currentContext: top.text('current-context'),
    clusters: named(top, 'clusters', 'cluster', (fields) => readCluster(fields, path)),
    users: named(top, 'users', 'user', (fields) => readUser(fields, path)),
    contexts: named(top, 'contexts', 'context', readContext),
  };
}

function named<T>(top: Fields, list: string, item: string, read: (fields: Fields) => T): ReadonlyMap<string, T> {
  const result = new Map<string, T>();
  for (const entry of top.maps(list)) {
    const name = entry.required('name');
    if (result.has(name)) throw entry.invalid(`: the name '${name}' is given twice`);
    result.set(name, read(entry.map(item) ?? new Fields({}, '')));
  }
  return result;
}

function readContext(fields: Fields): ContextEntry {
  return { cluster: fields.text('cluster') ?? '', user: fields.text('user'), namespace: fields.text('namespace') };
}

function readCluster(fields: Fields, path: (name: string) => string): ClusterEntry {
  const extension = fields.maps('extensions').find((one) => one.text('name') === EXEC_EXTENSION);
  return {
    server: fields.text('server') ?? '',
    ca: source(fields, 'certificate-authority', path),
    tlsServerName: fields.text('tls-server-name'),
    insecure: fields.flag('insecure-skip-tls-verify'),
    proxyUrl: fields.text('proxy-url'),
    execConfig: extension?.raw('extension'),
  };
}

function readUser(fields: Fields, path: (name: string) => string): UserEntry {
  const tokenFile = fields.text('tokenFile');
  const token = fields.text('token');
  const username = fields.text('username');
  const exec = fields.map('exec');
  return {
    certificate: source(fields, 'client-certificate', path),
    key: source(fields, 'client-key', path),
    // As kubectl: the file wins.
    token: tokenFile !== undefined ? { file: path(tokenFile) } : token !== undefined ? { text: token } : undefined,
    basic: username === undefined ? undefined : { username, password: fields.text('password') ?? '' },
    exec: exec && readExec(exec, path),
    impersonate: readImpersonation(fields),
    authProvider: fields.map('auth-provider')?.text('name'),
  };
}

function readExec(fields: Fields, path: (name: string) => string): ExecEntry {
  const apiVersion = fields.required('apiVersion');
  if (!EXEC_VERSIONS.includes(apiVersion)) throw fields.invalid(`is none of ${EXEC_VERSIONS.join(', ')}`, 'apiVersion');
  const command = fields.required('command');
  const mode = fields.text('interactiveMode');
  // Only v1beta1 had a default.
  if (mode === undefined && apiVersion === EXEC_VERSIONS[0]) throw fields.invalid('is missing', 'interactiveMode');
  const interactiveMode = INTERACTIVE.find((one) => one === (mode ?? 'IfAvailable'));
  if (!interactiveMode) throw fields.invalid(`is none of ${INTERACTIVE.join(', ')}`, 'interactiveMode');
  return {
    apiVersion,
    // A bare name is looked up in PATH; with a slash it is a path like any other in the file.
    command: command.includes('/') ? path(command) : command,
    args: fields.texts('args'),
    env: Object.fromEntries(fields.maps('env').map((one) => [one.required('name'), one.text('value') ?? ''])),
    installHint: fields.text('installHint'),
    provideClusterInfo: fields.flag('provideClusterInfo'),
    interactiveMode,
  };
}

function readImpersonation(fields: Fields): Impersonation | undefined {
  const user = fields.text('as');
  const uid = fields.text('as-uid');
  const groups = fields.texts('as-groups');
  const extra = fields.map('as-user-extra');
  if (user === undefined) {
    // Silently acting as oneself where less was asked for would be a surprise of the worst kind.
    if (uid !== undefined || groups.length > 0 || extra) throw fields.invalid("is missing, but 'as-…' is given", 'as');
    return undefined;
  }
  const extras = (extra?.names() ?? []).map((name) => [name, extra?.texts(name) ?? []] as const);
  return { user, uid, groups, extra: Object.fromEntries(extras) };
}

function source(fields: Fields, name: string, path: (name: string) => string): Source | undefined {
  const data = fields.text(`${name}-data`);
  if (data !== undefined) {
    const bytes = Buffer.from(data, 'base64');
    if (bytes.length === 0 || !/^[A-Za-z0-9+/\s]*=*\s*$/.test(data))
      throw fields.invalid('is not base64', `${name}-data`);
    return { text: bytes.toString('utf8') };
  }
  const file = fields.text(name);
  return file === undefined ? undefined : { file: path(file) };
}
