/** The volumes of one pod on this machine. */
import { dirname, join } from 'node:path';
import { DATA, isSafeName } from '../controllers/volumeclaim/directories.ts';
import { PROVISIONED_BY, PROVISIONER } from '../controllers/volumeclaim/plan.ts';
import type { Mount } from '../driver/driver.ts';
import type { Entry, HostFiles, Owner } from '../host/host.ts';
import type { Surroundings } from '../pod/downward.ts';
import { expand } from '../pod/environment.ts';
import type { PodContainer } from '../pod/progress.ts';
import type { StoredPod } from '../pod/view.ts';
import { writePayload } from './atomic.ts';
import { payloadDigest, payloadOf, type PodVolume } from './payload.ts';
import { type Sources, type Token, type TokenRequest, VolumeProblem } from './sources.ts';

/** Others may pass through a folder to what is theirs, and see nothing else. */
export const PASSABLE = 0o711;

/** What must be there, and what it is called. Sockets and devices are not told from each other. */
const HOST_PATH_KINDS: Readonly<Record<string, readonly [Entry['kind'], string]>> = {
  Directory: ['folder', 'directory'],
  DirectoryOrCreate: ['folder', 'directory'],
  File: ['file', 'file'],
  FileOrCreate: ['file', 'file'],
  Socket: ['other', 'socket file'],
  CharDevice: ['other', 'character device'],
  BlockDevice: ['other', 'block device'],
};

export interface VolumeOptions {
  readonly files: HostFiles;
  /** Of this pod. */
  readonly folder: string;
  /** Host paths may lead to what is below these, links followed. */
  readonly hostPathRoots: readonly string[];
  /** How a person allows more of them. */
  readonly hostPathRemedy?: string | undefined;
  /** Where volumes that were made for claims have their folders. Undefined: there are none. */
  readonly claimRoot?: string | undefined;
  /** Whose the pod's own volumes are. Default: the node's. */
  readonly owner?: Owner | undefined;
  /** Root runs the node: programs may be anybody, each container somebody else. */
  readonly isRoot?: boolean;
  /** Its containers are different users. */
  readonly isShared?: boolean;
}

export interface VolumeTurn {
  readonly pod: StoredPod;
  readonly sources: Sources;
  readonly around: Surroundings;
  readonly now: number;
}

export class PodVolumes {
  readonly #options: VolumeOptions;
  readonly #paths = new Map<string, string>();
  /** Volumes that nobody writes to, whatever their mounts say. */
  readonly #sealed = new Set<string>();
  readonly #written = new Map<string, { digest: string; renewAt: number | undefined }>();
  readonly #tokens = new Map<string, Token>();
  #turn = 0;

  constructor(options: VolumeOptions) {
    this.#options = options;
  }

  /** Makes all that are not there yet, and brings up to date those that are made of objects. Returns when to do so again at the latest. */
  async update(volumes: readonly PodVolume[], turn: VolumeTurn): Promise<number | undefined> {
    const sources = { ...turn.sources, token: (request: TokenRequest) => this.#token(request, turn) };
    for (const volume of volumes) await this.#make(volume, { ...turn, sources });
    const times = [...this.#written.values()].flatMap(({ renewAt }) => (renewAt === undefined ? [] : [renewAt]));
    return times.length === 0 ? undefined : Math.min(...times);
  }

  async mountsOf(container: PodContainer, env: Readonly<Record<string, string>>): Promise<readonly Mount[]> {
    const mounts: Mount[] = [];
    for (const { name, mountPath, subPath, subPathExpr, readOnly } of container.volumeMounts ?? []) {
      const base = this.#paths.get(name);
      if (base === undefined) throw new VolumeProblem(name, 'there is no such volume');
      const below = subPathExpr === undefined ? subPath : expand(subPathExpr, env);
      const source = below === undefined || below === '' ? base : await this.#below(name, base, below);
      const kind = await this.#options.files.kindOf(source);
      const isFile = kind !== undefined && kind !== 'folder';
      mounts.push({ source, target: mountPath, isReadOnly: readOnly === true || this.#sealed.has(name), isFile });
    }
    return mounts;
  }

  /** Each one asked for is another one: only when it is time. */
  async #token(request: TokenRequest, { sources, now }: VolumeTurn): Promise<Token | null> {
    const id = JSON.stringify(request);
    const kept = this.#tokens.get(id);
    if (kept && now < kept.renewAt) return kept;
    const fresh = await sources.token(request);
    if (fresh) this.#tokens.set(id, fresh);
    return fresh;
  }

  /** Within the volume, whatever links are in it. */
  async #below(volume: string, base: string, subPath: string): Promise<string> {
    const { files, isRoot } = this.#options;
    if (subPath.startsWith('/') || subPath.split('/').includes('..')) {
      throw new VolumeProblem(volume, `subPath "${subPath}" leads out of the volume`);
    }
    const path = join(base, subPath);
    const root = (await files.realPath(base)) ?? base;
    // Made step by step, each one looked at, so that no link leads the making itself out.
    let at = root;
    for (const part of subPath.split('/').filter((one) => one !== '' && one !== '.')) {
      const next = join(at, part);
      if ((await files.kindOf(next)) === undefined) {
        // Who may write to the volume may write there, too.
        await (isRoot ? files.makeFolderLike(next, root) : files.makeFolder(next, 0o750));
      }
      at = (await files.realPath(next)) ?? next;
      if (at !== root && !at.startsWith(`${root}/`)) {
        throw new VolumeProblem(volume, `subPath "${subPath}" leads out of the volume`);
      }
    }
    return at === '' ? path : at;
  }

  async #make(volume: PodVolume, turn: VolumeTurn): Promise<void> {
    const { files, folder, owner } = this.#options;
    const { name, emptyDir, hostPath, persistentVolumeClaim } = volume;
    const own = join(folder, name);
    const isMade = this.#paths.has(name);
    if (emptyDir) {
      if (isMade) return;
      await this.#makeEmpty(own);
      this.#paths.set(name, own);
    } else if (hostPath) {
      this.#paths.set(name, await this.#hostPath(name, hostPath));
    } else if (persistentVolumeClaim) {
      if (isMade) return;
      const path = await this.#claimed(name, persistentVolumeClaim.claimName, turn);
      if (owner) await files.setOwner(path, owner, false);
      this.#paths.set(name, path);
      if (persistentVolumeClaim.readOnly) this.#sealed.add(name);
    } else {
      await this.#fromObjects(volume, own, turn);
    }
  }

  /** Once: what its programs make of owner and mode is theirs to say. Hence whole or not at all, should the node die. */
  async #makeEmpty(own: string): Promise<void> {
    const { files, owner, isShared } = this.#options;
    if ((await files.kindOf(own)) !== undefined) return;
    const beside = `${own}.new`; // no name of a volume
    await files.makeFolder(beside, 0o777);
    if (owner) await files.setOwner(beside, owner, false);
    // Whatever the umask says. Elsewhere it is its owner's: the way to it may be open to all users of the machine.
    if (isShared) await files.setMode(beside, 0o777);
    await files.move(beside, own);
  }

  async #fromObjects(volume: PodVolume, own: string, turn: VolumeTurn): Promise<void> {
    const { files } = this.#options;
    const { name } = volume;
    const payload = await payloadOf({ volume, ...turn });
    if (!payload) throw new VolumeProblem(name, 'volumes of this kind are not known on this node');
    const digest = payloadDigest(payload);
    const before = this.#written.get(name);
    this.#paths.set(name, own);
    this.#sealed.add(name); // what it is made of is the server's to change
    if (before?.digest !== digest) {
      await writePayload({ files, owner: this.#options.owner }, own, payload, `${turn.now.toFixed(0)}_${this.#turn++}`);
    }
    this.#written.set(name, { digest, renewAt: payload.renewAt });
  }

  /** The folder of the volume that a claim is bound to. */
  async #claimed(volume: string, claimName: string, { sources }: VolumeTurn): Promise<string> {
    const claim = await sources.claim(claimName);
    if (!claim) throw new VolumeProblem(volume, `persistentvolumeclaim "${claimName}" not found`);
    const volumeName = claim.spec?.volumeName;
    if (claim.status?.phase === 'Lost') {
      const lost = `bound to non-existent persistentvolume "${volumeName ?? ''}"`;
      throw new VolumeProblem(volume, `persistentvolumeclaim "${claimName}" ${lost}`);
    }
    if (volumeName === undefined || volumeName === '' || claim.status?.phase !== 'Bound') {
      throw new VolumeProblem(volume, `persistentvolumeclaim "${claimName}" is not bound`);
    }
    const bound = await sources.volume(volumeName);
    if (bound?.spec?.claimRef?.uid !== claim.metadata.uid) {
      throw new VolumeProblem(volume, `persistentvolume "${volumeName}" is not bound to this claim`);
    }
    const path = bound.spec.hostPath?.path ?? bound.spec.local?.path;
    if (path === undefined) {
      throw new VolumeProblem(volume, `persistentvolume "${volumeName}" is no folder of a machine`);
    }
    const { files, claimRoot, hostPathRoots, owner } = this.#options;
    const isOurs = claimRoot !== undefined && bound.metadata.annotations?.[PROVISIONED_BY] === PROVISIONER;
    const check = (real: string) =>
      isOurs
        ? this.#isOwnFolder(volume, volumeName, claimRoot, path, real)
        : this.#allowed(volume, path, real, hostPathRoots);
    // Before it is made and after: whoever may write volumes, or put links into folders, must not choose what is mounted.
    await check(await existing(files, path));
    await files.makeFolder(path, 0o750);
    const real = (await files.realPath(path)) ?? path;
    await check(real);
    if (isOurs && owner) await files.setMode(dirname(real), PASSABLE);
    return real;
  }

  /** A volume that was made for a claim has one folder, named after it, and no other. */
  async #isOwnFolder(volume: string, name: string, root: string, path: string, real: string): Promise<void> {
    const own = join((await this.#options.files.realPath(root)) ?? root, name, DATA);
    // As far as it exists; what is missing of it will be made without links.
    if (isSafeName(name) && (own === real || own.startsWith(`${real}/`)) && path === join(root, name, DATA)) return;
    throw new VolumeProblem(
      volume,
      `persistentvolume "${name}" leads to "${path}", which is not the folder made for it`,
    );
  }

  async #hostPath(name: string, { path, type }: NonNullable<PodVolume['hostPath']>): Promise<string> {
    const { files, hostPathRoots } = this.#options;
    if (type?.endsWith('OrCreate') && (await files.realPath(path)) === undefined) {
      // Only what lies below a root may be made, too.
      await this.#allowed(name, path, await existing(files, path), hostPathRoots);
      if (type === 'DirectoryOrCreate') await files.makeFolder(path, 0o755);
      // A file only, not the way to it: so says Kubernetes.
      else if ((await files.kindOf(dirname(path))) === 'folder') await files.write(path, '', 0o644);
    }
    const real = await files.realPath(path);
    if (real === undefined) throw new VolumeProblem(name, `hostPath "${path}" does not exist`);
    await this.#allowed(name, path, real, hostPathRoots);
    const [kind, word] = HOST_PATH_KINDS[type ?? ''] ?? [];
    if (kind !== undefined && (await files.kindOf(real)) !== kind)
      throw new VolumeProblem(name, `hostPath type check failed: ${path} is not a ${word}`);
    return real;
  }

  async #allowed(volume: string, path: string, real: string, roots: readonly string[]): Promise<void> {
    for (const root of roots) {
      const realRoot = await this.#options.files.realPath(root);
      if (realRoot !== undefined && (real === realRoot || real.startsWith(join(realRoot, '/')))) return;
    }
    const { hostPathRemedy } = this.#options;
    const remedy = hostPathRemedy === undefined ? '' : `: ${hostPathRemedy}`;
    throw new VolumeProblem(volume, `hostPath "${path}" does not lie below a folder that this node allows${remedy}`);
  }
}

/** The deepest part of a path that is there, without links. */
async function existing(files: HostFiles, path: string): Promise<string> {
  for (let at = path; at !== '/' && at !== ''; at = join(at, '..')) {
    const real = await files.realPath(at);
    if (real !== undefined) return real;
  }
  return '/';
}
