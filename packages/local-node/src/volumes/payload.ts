/** The files of a volume that is made of objects: config maps, secrets, what a pod may know of itself, tokens. */
import { createHash } from 'node:crypto';
import { fieldOf, resourceOf, type Surroundings } from '../pod/downward.ts';
import type { StoredPod } from '../pod/view.ts';
import { type Content, NoAccount, type Sources, VolumeProblem } from './sources.ts';

export interface PayloadFile {
  readonly content: Uint8Array;
  readonly mode: number;
}

export interface Payload {
  /** By path within the volume. */
  readonly files: ReadonlyMap<string, PayloadFile>;
  /** When it should be made anew, whatever else happens. */
  readonly renewAt: number | undefined;
}

export type PodVolume = NonNullable<NonNullable<StoredPod['spec']>['volumes']>[number];

export interface PayloadInput {
  readonly volume: PodVolume;
  readonly pod: StoredPod;
  readonly sources: Sources;
  readonly around: Surroundings;
}

const DEFAULT_MODE = 0o644;
/** Nobody but the owner and its group reads a secret. */
const SECRET_MASK = 0o770;
const TOKEN_MODE = 0o600;
const TOKEN_SECONDS = 3_600;

type Projection = NonNullable<NonNullable<PodVolume['projected']>['sources']>[number];
type From = NonNullable<PodVolume['configMap']>;

/** Undefined: this volume is not made of objects. */
export async function payloadOf(input: PayloadInput): Promise<Payload | undefined> {
  const { volume } = input;
  const made = new Making(input);
  if (volume.configMap) await made.configMap(volume.configMap, volume.configMap.defaultMode);
  else if (volume.secret) {
    const { secretName, ...rest } = volume.secret;
    await made.secret({ ...rest, ...(secretName !== undefined && { name: secretName }) }, volume.secret.defaultMode);
  } else if (volume.downwardAPI) made.downward(volume.downwardAPI, volume.downwardAPI.defaultMode);
  else if (volume.projected) {
    for (const source of volume.projected.sources ?? []) await made.projection(source, volume.projected.defaultMode);
  } else return undefined;
  return { files: made.files, renewAt: made.renewAt };
}

class Making {
  readonly files = new Map<string, PayloadFile>();
  renewAt: number | undefined;
  readonly #input: PayloadInput;

  constructor(input: PayloadInput) {
    this.#input = input;
  }

  async projection(source: Projection, mode: number | undefined): Promise<void> {
    const { configMap, secret, downwardAPI, serviceAccountToken } = source;
    if (configMap) await this.configMap(configMap, mode);
    if (secret) await this.secret(secret, mode);
    if (downwardAPI) this.downward(downwardAPI, mode);
    if (serviceAccountToken) await this.token(serviceAccountToken);
  }

  async configMap(from: From, mode: number | undefined): Promise<void> {
    const content = await this.#input.sources.configMap(from.name ?? '');
    this.#pick('configmap', from, content, mode ?? DEFAULT_MODE, 0o777);
  }

  async secret(from: From, mode: number | undefined): Promise<void> {
    const content = await this.#input.sources.secret(from.name ?? '');
    this.#pick('secret', from, content, mode ?? DEFAULT_MODE, SECRET_MASK);
  }

  downward({ items = [] }: NonNullable<PodVolume['downwardAPI']>, mode: number | undefined): void {
    const { pod, around } = this.#input;
    const containers = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])];
    for (const { path, fieldRef, resourceFieldRef, mode: own } of items) {
      const value = fieldRef
        ? fieldOf(pod, fieldRef.fieldPath, around)
        : resourceFieldRef && resourceOf(containers, undefined, resourceFieldRef, around);
      if (value === undefined) throw this.#problem(`${path} refers to nothing that a pod can be told`);
      this.#add(path, Buffer.from(value), own ?? mode ?? DEFAULT_MODE);
    }
  }

  async token(projection: NonNullable<Projection['serviceAccountToken']>): Promise<void> {
    const { pod, sources } = this.#input;
    const account = pod.spec?.serviceAccountName ?? 'default';
    const expirationSeconds = projection.expirationSeconds ?? TOKEN_SECONDS;
    const got = await sources.token({ account, audience: projection.audience, expirationSeconds });
    if (!got) {
      throw new NoAccount(this.#input.volume.name, `failed to fetch token: serviceaccounts "${account}" not found`);
    }
    this.#add(projection.path, Buffer.from(got.token), TOKEN_MODE);
    this.renewAt = Math.min(this.renewAt ?? got.renewAt, got.renewAt);
  }

  #pick(kind: string, from: From, content: Content | null, mode: number, mask: number): void {
    const { name = '', items, optional } = from;
    if (!content) {
      if (optional) return;
      throw this.#problem(`${kind} "${name}" not found`);
    }
    const wanted = items ?? Object.keys(content).map((key) => ({ key, path: key, mode: undefined }));
    for (const { key, path, mode: own } of wanted) {
      const bytes = content[key];
      if (bytes) this.#add(path, bytes, (own ?? mode) & mask);
      else if (!optional) throw this.#problem(`references non-existent ${kind} key: ${key}`);
    }
  }

  #add(path: string, content: Uint8Array, mode: number): void {
    const parts = path.split('/');
    // The server refuses such paths; what is written to disk does not rely on it.
    if (path.startsWith('/') || parts.some((part) => part === '..' || part === '')) {
      throw this.#problem(`${path} leads out of the volume`);
    }
    this.files.set(path, { content, mode });
  }

  #problem(why: string): VolumeProblem {
    return new VolumeProblem(this.#input.volume.name, why);
  }
}

/** Tells whether two payloads are the same without keeping them. */
export function payloadDigest({ files }: Payload): string {
  const hash = createHash('sha256');
  for (const [path, { content, mode }] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(`${path.length} ${path} ${mode} ${content.length} `).update(content);
  }
  return hash.digest('hex');
}
