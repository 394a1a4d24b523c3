/** Where the Kubernetes programs come from: KUBEBUILDER_ASSETS, PATH, or a build of our own. */
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { findOnPath, type Program } from '../binaries/program.ts';
import { run, say } from '../binaries/run.ts';
import { builtPrograms, ETCD_VERSION, KUBE_VERSION } from './build.ts';

export type KubeProgramName = 'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kubectl';

const found = new Map<KubeProgramName, Promise<Program>>();

/** Each search once per process. A program is only looked for, and built, when something is to run on it. */
export function kubeProgram(name: KubeProgramName): Promise<Program> {
  let program = found.get(name);
  if (!program) {
    program = find(name);
    found.set(name, program);
  }
  return program;
}

async function find(name: KubeProgramName): Promise<Program> {
  return (await installedProgram(name)) ?? (await builtProgram(name));
}

/** The first that is of a version we can use; others are told of and left alone. */
export async function installedProgram(name: KubeProgramName): Promise<Program | undefined> {
  for (const { command, origin } of places(name)) {
    const version = await versionOf(name, command);
    if (version !== undefined && isWanted(name, version)) {
      say(`${name} ${version} from ${origin}`);
      return describe(name, version, origin, command);
    }
    say(`${name} from ${origin} is ${version ?? 'of no known version'}, not ${minor(wanted(name))}: not used`);
  }
  return undefined;
}

async function builtProgram(name: KubeProgramName): Promise<Program> {
  const folder = await builtPrograms();
  const command = join(folder, name);
  const version = await versionOf(name, command);
  if (version !== wanted(name)) throw new Error(`${name} was built as ${version}, not as ${wanted(name)}`);
  return { ...describe(name, version, 'Go modules', command), folder };
}

function places(name: string): readonly { readonly command: string; readonly origin: string }[] {
  const assets = process.env.KUBEBUILDER_ASSETS;
  const asset = assets ? join(assets, name) : undefined;
  const onPath = findOnPath(name);
  return [
    ...(asset !== undefined && isExecutable(asset) ? [{ command: asset, origin: 'KUBEBUILDER_ASSETS' }] : []),
    ...(onPath === undefined ? [] : [{ command: onPath, origin: 'PATH' }]),
  ];
}

function describe(name: string, version: string, origin: string, command: string): Program {
  return { name: `${name} ${version}`, version, origin, command, prefix: [], env: {}, tls: true };
}

async function versionOf(name: KubeProgramName, command: string): Promise<string | undefined> {
  const args = name === 'kubectl' ? ['version', '--client'] : ['--version'];
  return parseKubeVersion((await run(command, args, { timeoutMs: 30_000 })).stdout);
}

/** `Kubernetes v1.36.3`, `Client Version: v1.36.3 …`, `etcd Version: 3.6.8 …`. */
export function parseKubeVersion(text: string): string | undefined {
  return /^(?:Kubernetes v|Client Version: v|etcd Version: )(\d+\.\d+\.\d+)/m.exec(text)?.[1];
}

const wanted = (name: KubeProgramName): string => (name === 'etcd' ? ETCD_VERSION : KUBE_VERSION);
const minor = (version: string): string => version.split('.', 2).join('.');

/** Another patch of the same minor version behaves the same where it matters to us; another minor version does not. */
export function isWanted(name: KubeProgramName, version: string): boolean {
  return minor(version) === minor(wanted(name));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
