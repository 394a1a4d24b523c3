/** A real control plane with the custom kind of the benchmarks, and a load generator on it. */
import { type KubeUser, startKube, until } from '@reeve/rig';
import { type Load, startLoad } from '../load/start.ts';
import { type Access, Wire } from '../load/wire.ts';
import { COLLECTIONS, DEFINITION, NAMESPACE, namespaceObject, type ResourceName } from './objects.ts';

export interface Stage extends AsyncDisposable {
  readonly kubeconfig: string;
  readonly load: Load;
  /** How long the server's JSON of one object is. */
  bytesOf(resource: ResourceName, name: string): Promise<number>;
}

export async function startStage(): Promise<Stage> {
  const kube = await startKube();
  try {
    // As administrators their requests are not queued by priority: the server's fairness is not what is measured.
    const user: KubeUser = await kube.user({ name: 'bench', groups: ['system:masters'] });
    const access: Access = { url: kube.url, caFile: kube.caFile, etcdUrl: kube.etcdUrl, ...user };
    const wire = new Wire(access);
    const create = (path: string, object: object) => wire.send({ method: 'POST', path, body: JSON.stringify(object) });
    await create('/api/v1/namespaces', namespaceObject(NAMESPACE));
    await create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', DEFINITION);
    const isServed = () => wire.send({ method: 'GET', path: COLLECTIONS.widgets }).then(() => true);
    await until('the kind is served', isServed, { timeoutMs: 30_000 });
    const load = await startLoad(access);
    return {
      kubeconfig: user.kubeconfig,
      load,
      bytesOf: (resource, name) => wire.send({ method: 'GET', path: `${COLLECTIONS[resource]}/${name}` }),
      async [Symbol.asyncDispose]() {
        wire.close();
        await load[Symbol.asyncDispose]();
        await kube.stop();
      },
    };
  } catch (error) {
    await kube.stop();
    throw error;
  }
}
