/** Sources on the API server: what a watch has told already, else a live read, so that unknown is never taken for absent. */
import type { KubeClient, Stored } from '@reeve/kube';
import { isKubeError } from '@reeve/kube';
import type { DeepReadonly } from '@reeve/runtime';
import type { Kind } from '@reeve/runtime/manager';
import { type ConfigMap, configMaps } from '../kinds/config-map.ts';
import { type Secret, secrets } from '../kinds/secret.ts';
import { serviceAccounts } from '../kinds/service-account.ts';
import { volumes, volumeClaims } from '../kinds/volumeclaim.ts';
import type { StoredPod } from '../pod/view.ts';
import type { Content, Sources, Token, TokenRequest } from '../volumes/sources.ts';

/** What is watched, by key; undefined: not told yet, perhaps not there. */
export interface Watched {
  configMap(key: string): DeepReadonly<Stored<ConfigMap>> | undefined;
  secret(key: string): DeepReadonly<Stored<Secret>> | undefined;
}

interface TokenAnswer {
  readonly status?: { readonly token?: string; readonly expirationTimestamp?: string };
}

const TOKEN_LIFE_USED = 0.8;

export function sourcesOf(
  client: KubeClient,
  watched: Watched,
  pod: StoredPod,
  clock: { now(): number },
  signal: AbortSignal,
): Sources {
  const namespace = pod.metadata.namespace ?? 'default';
  const live = <T extends ConfigMap | Secret>(kind: Kind<T>, name: string) =>
    client.resource(kind, namespace).find(name, { signal });
  const configMapOf = async (name: string) =>
    watched.configMap(`${namespace}/${name}`) ?? (await live(configMaps, name));
  return {
    async configMap(name) {
      const object = await configMapOf(name);
      if (!object) return null;
      return { ...encoded(object.data ?? {}, 'utf8'), ...encoded(object.binaryData ?? {}, 'base64') };
    },
    async configMapTexts(name) {
      const object = await configMapOf(name);
      return object ? (object.data ?? {}) : null;
    },
    async secret(name) {
      const object = watched.secret(`${namespace}/${name}`) ?? (await live(secrets, name));
      return object ? encoded(object.data ?? {}, 'base64') : null;
    },
    claim: async (name) => (await client.resource(volumeClaims, namespace).find(name, { signal })) ?? null,
    volume: async (name) => (await client.resource(volumes).find(name, { signal })) ?? null,
    token: (request) => tokenOf(client, pod, namespace, request, clock, signal),
  };
}

async function tokenOf(
  client: KubeClient,
  { metadata }: StoredPod,
  namespace: string,
  { account, audience, expirationSeconds }: TokenRequest,
  clock: { now(): number },
  signal: AbortSignal,
): Promise<Token | null> {
  const now = clock.now();
  const request = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {
      audiences: audience === undefined ? [] : [audience],
      expirationSeconds,
      boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: metadata.name, uid: metadata.uid },
    },
  };
  try {
    const api = client.resource(serviceAccounts, namespace);
    const { status } = await api.post<TokenAnswer>(account, 'token', request, { signal });
    const expiresAt = Date.parse(status?.expirationTimestamp ?? '');
    // By the length of its life as asked for: the server's clock is not ours.
    const life = Number.isNaN(expiresAt) ? expirationSeconds * 1_000 : Math.max(0, expiresAt - now);
    return { token: status?.token ?? '', expiresAt: now + life, renewAt: now + life * TOKEN_LIFE_USED };
  } catch (error) {
    if (isKubeError(error) && error.code === 'KUBE_NOT_FOUND') return null;
    throw error;
  }
}

function encoded(data: Readonly<Record<string, string>>, encoding: 'utf8' | 'base64'): Content {
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, Buffer.from(value, encoding)]));
}
