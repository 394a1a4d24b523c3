/** The two servers, alike from outside: TLS on loopback, an administrator, RBAC. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Json, stringifyJson } from '@reeve/kube';
import { startKube } from '@reeve/rig';
import { Wire } from './wire.ts';

const ADMINISTRATOR = { name: 'root', groups: ['system:masters'] };
const WAIT_MS = 30_000;
const AGAIN_MS = 50;

export class Server implements AsyncDisposable {
  readonly name: 'real' | 'embedded';
  readonly wire: Wire;
  readonly #stop: () => Promise<void>;
  readonly #made = new Map<string, Promise<void>>();

  constructor(name: Server['name'], wire: Wire, stop: () => Promise<void>) {
    this.name = name;
    this.wire = wire;
    this.#stop = stop;
  }

  /** Creates a definition and waits until its kind is served. Cases may share one. */
  define(definition: Json): Promise<void> {
    const { metadata } = definition as { metadata: { name: string } };
    return this.#once(metadata.name, () => define(this.wire, definition));
  }

  namespace(name: string): Promise<void> {
    return this.#once(`namespace ${name}`, async () => {
      const body = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
      const headers = { 'content-type': 'application/json' };
      const made = await this.wire.send({ method: 'POST', path: '/api/v1/namespaces', headers, body });
      if (made.code >= 300) throw new Error(`namespace ${name}: ${made.text}`);
    });
  }

  #once(name: string, make: () => Promise<void>): Promise<void> {
    const begun = this.#made.get(name) ?? make();
    this.#made.set(name, begun);
    return begun;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.wire[Symbol.dispose]();
    await this.#stop();
  }
}

export async function startReal(): Promise<Server> {
  const kube = await startKube();
  const { certFile, keyFile } = await kube.user(ADMINISTRATOR);
  const [ca, cert, key] = [kube.caFile, certFile, keyFile].map((file) => readFileSync(file, 'utf8')) as [
    string,
    string,
    string,
  ];
  return new Server('real', new Wire({ url: kube.url, ca, cert, key }), () => kube.stop());
}

/** In a process of its own, so that it and whoever asks do not wait for each other. */
export async function startEmbedded(onError: (error: unknown) => void): Promise<Server> {
  const token = 'token-of-the-administrator';
  const { name, groups } = ADMINISTRATOR;
  const child = spawn(process.execPath, [join(import.meta.dirname, 'embedded-child.ts'), token, name, ...groups]);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.stderr.setEncoding('utf8').on('data', (text: string) => onError(new Error(text)));
  const { value } = await createInterface(child.stdout)[Symbol.asyncIterator]().next();
  if (value === undefined) throw new Error('the embedded server did not start');
  const { url, ca } = JSON.parse(value as string) as { url: string; ca: string };
  return new Server('embedded', new Wire({ url, ca, token }), async () => {
    child.stdin.end();
    await ended;
  });
}

interface Spec {
  readonly group: string;
  readonly scope: string;
  readonly names: { readonly plural: string };
  readonly versions: readonly { readonly name: string; readonly served: boolean }[];
}

/** Creates a definition and waits until its kind is served, writes included. */
async function define(wire: Wire, definition: Json): Promise<void> {
  const { spec } = definition as unknown as { spec: Spec };
  const headers = { 'content-type': 'application/json' };
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const made = await wire.send({ method: 'POST', path, headers, body: stringifyJson(definition) });
  if (made.code >= 300) throw new Error(`definition of ${spec.names.plural}.${spec.group}: ${made.text}`);
  for (const end = Date.now() + WAIT_MS; ; ) {
    const { text } = await wire.send({ method: 'GET', path: `${path}/${spec.names.plural}.${spec.group}` });
    const { status } = JSON.parse(text) as { status?: { conditions?: { type: string; status: string }[] } };
    if (status?.conditions?.some((one) => one.type === 'Established' && one.status === 'True')) break;
    if (Date.now() > end) throw new Error(`${spec.names.plural}.${spec.group} is not established: ${text}`);
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
  const within = spec.scope === 'Namespaced' ? '/namespaces/default' : '';
  for (const { name, served } of spec.versions) {
    if (served) await untilServed(wire, `/apis/${spec.group}/${name}${within}/${spec.names.plural}/nobody`);
  }
}

/** The real server refuses a new kind for a moment, and answers 429 to writes for another one. */
async function untilServed(wire: Wire, path: string): Promise<void> {
  for (const end = Date.now() + WAIT_MS; Date.now() < end; ) {
    // Nobody has that name; a server that looks for it serves the kind.
    const { text } = await wire.send({ method: 'DELETE', path });
    if (text.includes('nobody')) return;
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
  throw new Error(`${path}: the kind is not served`);
}
