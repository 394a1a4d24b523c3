/** The two servers, alike from outside: TLS on loopback, an administrator, RBAC. */
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { AccessControl, ApiServer, listen, memoryJournal, type SigningKey, signingKey, Store } from '@reeve/embedded';
import { type Json, systemKubePorts } from '@reeve/kube';
import { makeCertificates, startKube } from '@reeve/rig';
import { Wire } from './wire.ts';

const ADMINISTRATOR = { name: 'root', groups: ['system:masters'] };
const ISSUER = 'https://kubernetes.default.svc';
const WAIT_MS = 30_000;
const AGAIN_MS = 50;

export class Server implements AsyncDisposable {
  readonly name: 'real' | 'embedded';
  readonly wire: Wire;
  readonly #stop: () => Promise<void>;
  readonly #defined = new Map<string, Promise<void>>();

  constructor(name: Server['name'], wire: Wire, stop: () => Promise<void>) {
    this.name = name;
    this.wire = wire;
    this.#stop = stop;
  }

  /** Creates a definition and waits until its kind is served. Cases may share one. */
  define(definition: Json): Promise<void> {
    const { metadata } = definition as { metadata: { name: string } };
    const begun = this.#defined.get(metadata.name) ?? define(this.wire, definition);
    this.#defined.set(metadata.name, begun);
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

export async function startEmbedded(onError: (error: unknown) => void): Promise<Server> {
  const { clock, random } = systemKubePorts();
  const store = await Store.open({ journal: memoryJournal(), clock });
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const token = 'token-of-the-administrator';
  const access = new AccessControl({
    store,
    clock,
    random,
    keys: [signingKey(privateKey) as SigningKey],
    issuer: ISSUER,
    tokens: [{ token, user: ADMINISTRATOR }],
    // As the real server is by default.
    anonymous: true,
  });
  const server = await ApiServer.open({ store, clock, random, access, onError });
  await access.install(server.transport(), onError);
  const { ca, cert, key } = await makeCertificates();
  const handle: Parameters<typeof listen>[0]['handle'] = (request, certificate) => server.handle(request, certificate);
  const listener = await listen({ handle, tls: { cert, key }, onError });
  return new Server('embedded', new Wire({ url: listener.url.origin, ca, token }), async () => {
    server.close();
    access[Symbol.dispose]();
    await listener.close();
    await store.close();
  });
}

/** Creates a definition and waits until its kind is served, writes included. */
async function define(wire: Wire, definition: Json): Promise<void> {
  const { spec } = definition as { spec: { group: string; names: { plural: string }; versions: { name: string }[] } };
  const headers = { 'content-type': 'application/json' };
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const made = await wire.send({ method: 'POST', path, headers, body: JSON.stringify(definition) });
  if (made.code >= 300) throw new Error(`definition of ${spec.names.plural}.${spec.group}: ${made.text}`);
  for (const end = Date.now() + WAIT_MS; ; ) {
    const { text } = await wire.send({ method: 'GET', path: `${path}/${spec.names.plural}.${spec.group}` });
    const { status } = JSON.parse(text) as { status?: { conditions?: { type: string; status: string }[] } };
    if (status?.conditions?.some((one) => one.type === 'Established' && one.status === 'True')) break;
    if (Date.now() > end) throw new Error(`${spec.names.plural}.${spec.group} is not established: ${text}`);
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
  for (const { name } of spec.versions) await untilServed(wire, `/apis/${spec.group}/${name}/${spec.names.plural}`);
}

/** The real server refuses writes of a new kind for a moment after it serves reads: 429, or 404. */
async function untilServed(wire: Wire, path: string): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  for (const end = Date.now() + WAIT_MS; Date.now() < end; ) {
    const read = await wire.send({ method: 'GET', path });
    // Nothing can be deleted by a name that none has; it is a write all the same.
    const write = await wire.send({ method: 'DELETE', path: `${path}?fieldSelector=metadata.name%3D-`, headers });
    if (read.code === 200 && write.code !== 429 && write.code !== 404) return;
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}
