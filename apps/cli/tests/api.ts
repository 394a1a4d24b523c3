/** An API in memory for the commands that speak to one. */
import type { TestContext } from 'node:test';
import { ApiServer, memoryJournal, Store } from '@reeve/embedded';
import { type AnyObject, KubeClient, type OpenSocket, resource, systemKubePorts, type Transport } from '@reeve/kube';
import { Harness, type Ran, type RunOptions } from './harness.ts';

export const configMaps = resource({
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
});
export const events = resource({ group: '', version: 'v1', plural: 'events', kind: 'Event', namespaced: true });

export class ApiHarness {
  readonly harness = new Harness();
  readonly client: KubeClient;
  readonly transport: Transport;
  socket: OpenSocket = () => Promise.reject(new Error('this test has no sockets'));
  /** What the command said about which API it wants. */
  readonly asked: Parameters<NonNullable<RunOptions['connectApi']>>[0][] = [];

  /** Told of every request before it is carried out. */
  onRequest: (method: string, path: string) => void = () => undefined;

  /** Waited for before a request of a command is carried out: others are faster. */
  beforeRequest: (method: string, path: string) => Promise<void> = () => Promise.resolve();

  constructor(transport: Transport) {
    const told: Transport = (request) => {
      this.onRequest(request.method, request.path);
      return transport(request);
    };
    this.transport = told;
    this.client = new KubeClient({ ...systemKubePorts(), transport: told });
  }

  static async open(t: TestContext): Promise<ApiHarness> {
    const { clock, random } = systemKubePorts();
    const store = await Store.open({ journal: memoryJournal(), clock });
    const server = await ApiServer.open({ store, clock, random });
    t.after(async () => {
      server.close();
      await store.close();
    });
    return new ApiHarness(server.transport());
  }

  run(line: string | readonly string[], options: RunOptions = {}): Promise<Ran> {
    const connectApi: RunOptions['connectApi'] = (asked) => {
      this.asked.push(asked);
      const close = () => undefined;
      const { socket } = this;
      const transport: Transport = async (request) => {
        await this.beforeRequest(request.method, request.path);
        return this.transport(request);
      };
      const client = new KubeClient({ ...systemKubePorts(), transport });
      const namespace = asked.namespace ?? 'default';
      return Promise.resolve({ client, transport, socket, namespace, close, [Symbol.dispose]: close });
    };
    return this.harness.run(line, { connectApi, ...options });
  }

  /** With a file that holds this. */
  async withFile(line: string, content: unknown, options: RunOptions = {}): Promise<Ran> {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    await this.harness.files.write('/f.yaml', text);
    return this.run(line.replace('FILE', '/f.yaml'), options);
  }

  maps(namespace = 'default') {
    return this.client.resource(configMaps, namespace);
  }
}

export const map = (name: string, more: object = {}): AnyObject & { readonly metadata: { readonly name: string } } => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  ...more,
});
