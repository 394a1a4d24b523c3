/** Volumes: what becomes of them when their claim is gone. Data is removed only for a claim that is proved to be gone, by its uid. */
import type { Stored } from '@reeve/kube';
import { asReeveError } from '@reeve/runtime';
import {
  addPatch,
  changeFinalizers,
  Controller,
  hasFinalizer,
  isBeingDeleted,
  type Parts,
  type Reconcile,
  type Reflection,
  removePatch,
} from '@reeve/runtime/manager';
import { type ClaimReference, type Volume, type VolumeClaim, volumeClaims, volumes } from '../../kinds/volumeclaim.ts';
import { expecting } from '../owned/expected.ts';
import { change, readLive, remove } from '../owned/writes.ts';
import type { Directories } from './directories.ts';
import { PROVISIONED_BY, PROVISIONER } from './plan.ts';

const PV_PROTECTION = 'kubernetes.io/pv-protection';

type Work = Reconcile<Volume>;
type Phase = NonNullable<NonNullable<Volume['status']>['phase']>;

export class VolumeController extends Controller<Volume> {
  readonly #directories: Directories;
  #volumes!: Reflection<Volume>;

  constructor(directories: Directories) {
    const reconcile = expecting((work: Work) => this.#reconcile(work));
    super({ name: 'volume', kind: volumes, cancelOn: false, reconcile });
    this.#directories = directories;
  }

  override setUp(parts: Parts): void {
    this.#volumes = this.setUpKind(parts, volumes);
    parts.wake(volumeClaims, this.#volumes, ({ spec, metadata }) => {
      const named = spec?.volumeName ?? '';
      return [...(named === '' ? [] : [named]), `pvc-${metadata.uid}`];
    });
  }

  async #reconcile(work: Work): Promise<void> {
    const volume = work.object as Stored<Volume>;
    const { claimRef, persistentVolumeReclaimPolicy: policy } = volume.spec ?? {};
    if (isBeingDeleted(volume)) return this.#letGo(work, volume);
    await this.#protect(work, volume, addPatch);
    // Meant for a claim that is not there yet, or for none.
    if (!claimRef?.uid) return this.#tell(work, volume, 'Available');
    if (await this.#isClaimed(work, claimRef)) return;
    if (volume.status?.phase !== 'Failed') await this.#tell(work, volume, 'Released');
    if (policy === 'Delete') await this.#reclaim(work, volume, claimRef.uid);
  }

  #protect(work: Work, volume: Stored<Volume>, patch: typeof addPatch) {
    return changeFinalizers(work.api.resource(volumes), volume, patch, PV_PROTECTION, work.signal);
  }

  /** Somebody deleted it. It stays as long as its claim does; then its data goes as if the claim had gone first. */
  async #letGo(work: Work, volume: Stored<Volume>): Promise<void> {
    if (!hasFinalizer(volume, PV_PROTECTION)) return;
    const { claimRef, persistentVolumeReclaimPolicy: policy } = volume.spec ?? {};
    if (claimRef?.uid && (await this.#isClaimed(work, claimRef))) return;
    const isOurs = volume.metadata.annotations?.[PROVISIONED_BY] === PROVISIONER;
    if (claimRef?.uid && isOurs && policy === 'Delete')
      await this.#directories.remove(volume.metadata.name, claimRef.uid);
    await this.#protect(work, volume, removePatch);
  }

  /** Live: what a cache does not have is not absent. */
  async #isClaimed(work: Work, { namespace, name = '', uid }: ClaimReference): Promise<boolean> {
    const api = work.api.resource<VolumeClaim>(volumeClaims, namespace ?? '');
    return (await api.find(name, { signal: work.signal }))?.metadata.uid === uid;
  }

  async #reclaim(work: Work, volume: Stored<Volume>, claimUid: string): Promise<void> {
    const { name, annotations } = volume.metadata;
    if (annotations?.[PROVISIONED_BY] !== PROVISIONER) return; // somebody else's to delete
    const live = await readLive(work, this.#volumes, volume);
    if (live?.spec?.claimRef?.uid !== claimUid || live.spec.persistentVolumeReclaimPolicy !== 'Delete') return;
    try {
      const outcome = await this.#directories.remove(name, claimUid);
      if (outcome === 'foreign') {
        const note = 'the directory does not say that it belongs to this volume: it stays';
        work.events.warning('VolumeFailedDelete', note, 'Delete');
        await this.#tell(work, live, 'Failed', note);
        return;
      }
    } catch (error) {
      work.events.warning('VolumeFailedDelete', asReeveError(error).message, 'Delete');
      throw error;
    }
    await remove(work, this.#volumes, live);
  }

  async #tell(work: Work, volume: Stored<Volume>, phase: Phase, message?: string): Promise<void> {
    if (volume.status?.phase === phase) return;
    const current = (await readLive(work, this.#volumes, volume)) ?? volume;
    if (current.status?.phase === phase) return;
    const status = { phase, ...(message !== undefined && { message }) };
    await change(work, this.#volumes, current, { status }, 'status');
  }
}
