/** Where objects of files live: their kinds as the server has them, their namespaces as it is meant. */
import { type AnyObject, discover, type ResourceClient, type ServedResource, splitApiVersion } from '@reeve/kube';
import type { Clock } from '@reeve/runtime';
import { cliError } from '../errors.ts';
import type { Api } from './api.ts';
import type { Manifest } from './manifest.ts';

const LOOK_AGAIN_MS = 200;
/** How long a kind may take from its definition to its first object. */
const MOST_WAIT_MS = 15_000;

export interface Home {
  readonly kind: ServedResource;
  readonly client: ResourceClient<AnyObject>;
}

/** @param mayCome its definition was just made: a server takes a moment to serve it. */
export async function homeOf(
  api: Api,
  manifest: Manifest,
  options: {
    readonly given: string | undefined;
    readonly mayCome: boolean;
    readonly clock: Clock;
    readonly signal: AbortSignal;
  },
): Promise<Home> {
  const kind = await kindOf(api, manifest, options);
  if (!kind.namespaced) return { kind, client: api.client.resource(kind) };
  const { namespace } = manifest.metadata;
  if (namespace !== undefined && options.given !== undefined && namespace !== options.given) {
    const { name } = manifest.metadata;
    const message = `${kind.kind} ${name} is of namespace ${namespace}, and --namespace says ${options.given}`;
    throw cliError('MANIFEST_INVALID', message, [name]);
  }
  return { kind, client: api.client.resource(kind, namespace ?? api.namespace) };
}

async function kindOf(
  api: Api,
  { apiVersion, kind }: Manifest,
  { mayCome, clock, signal }: { readonly mayCome: boolean; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<ServedResource> {
  const { group, version } = splitApiVersion(apiVersion);
  const endsAt = clock.now() + (mayCome ? MOST_WAIT_MS : 0);
  for (;;) {
    const found = await discover(api.client, { group, version, kind }, { signal });
    if (found) return found;
    if (clock.now() >= endsAt) {
      throw cliError('KIND_UNKNOWN', `there is no kind ${kind} in ${apiVersion}`, [`${kind}.${apiVersion}`]);
    }
    await clock.sleep(LOOK_AGAIN_MS, signal);
  }
}
