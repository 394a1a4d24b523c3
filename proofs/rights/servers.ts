/** The two servers on which the rights of agents are tried: the same calls over the network, with tokens. */
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { AccessControl, ApiServer, listen, memoryJournal, signingKey, Store } from '@reeve/embedded';
import { type Access, connect, KubeClient, networkTransport, systemKubePorts } from '@reeve/kube';
import { startKube } from '@reeve/rig';

export interface RightsServer extends AsyncDisposable {
  readonly admin: KubeClient;
  /** A client that has nothing but this token. */
  as(token: string): KubeClient;
}

export const servers: Readonly<Record<string, () => Promise<RightsServer>>> = {
  'kube-apiserver': realServer,
  'the embedded server': embeddedServer,
};

/** Clients of one server by token; all are closed together. */
class Clients {
  readonly #server: URL;
  readonly #ca: string | undefined;
  readonly #closing: (() => void)[] = [];

  constructor(server: URL, ca?: string) {
    this.#server = server;
    this.#ca = ca;
  }

  as(token: string): KubeClient {
    const { clock, random } = systemKubePorts();
    const tls = { ca: this.#ca, certificate: undefined, key: undefined, serverName: undefined, insecure: false };
    const identity = { headers: { authorization: `Bearer ${token}` }, tls };
    const access: Access = { server: this.#server, identity: async () => identity, rejected: async () => false };
    const { transport, close } = networkTransport(access, clock);
    this.#closing.push(close);
    return new KubeClient({ transport, clock, random, retries: 0 });
  }

  close(): void {
    for (const close of this.#closing) close();
  }
}

async function realServer(): Promise<RightsServer> {
  const kube = await startKube();
  const admin = await connect(systemKubePorts(), { file: kube.kubeconfig });
  const clients = new Clients(new URL(kube.url), readFileSync(kube.caFile, 'utf8'));
  return {
    admin: admin.client,
    as: (token) => clients.as(token),
    async [Symbol.asyncDispose]() {
      clients.close();
      admin.close();
      await kube.stop();
    },
  };
}

const ROOT = 'the-token-of-an-administrator';

async function embeddedServer(): Promise<RightsServer> {
  const { clock, random } = systemKubePorts();
  const key = signingKey(generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey);
  if (!key) throw new Error('a key of this kind signs no tokens');
  const store = await Store.open({ journal: memoryJournal(), clock });
  const tokens = [{ token: ROOT, user: { name: 'root', groups: ['system:masters'] } }];
  const control = new AccessControl({ store, clock, random, keys: [key], tokens });
  const server = await ApiServer.open({ store, clock, random, access: control });
  await control.install(server.transport());
  const listener = await listen({ handle: (request, certificate) => server.handle(request, certificate) });
  const clients = new Clients(listener.url);
  return {
    admin: clients.as(ROOT),
    as: (token) => clients.as(token),
    async [Symbol.asyncDispose]() {
      clients.close();
      server.close();
      control[Symbol.dispose]();
      await listener.close();
      await store.close();
    },
  };
}
