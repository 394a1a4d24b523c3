/** Claims: given a class, bound to a volume, and a volume on a directory made for them where the class is ours. */
import { isKubeError, type Stored } from '@reeve/kube';
import { asReeveError, type Verdict } from '@reeve/runtime';
import { Controller, type Parts, type Reconcile, type Reflection } from '@reeve/runtime/manager';
import {
  type StorageClass,
  storageClasses,
  type Volume,
  type VolumeClaim,
  volumeClaims,
  volumes,
} from '../../kinds/volumeclaim.ts';
import { expecting } from '../owned/expected.ts';
import { change, createIfAbsent } from '../owned/writes.ts';
import type { Directories } from './directories.ts';
import { BIND_COMPLETED, BOUND_BY_CONTROLLER, type ClaimStep, planClaim, PROVISIONED_BY, PROVISIONER } from './plan.ts';

type Work = Reconcile<VolumeClaim>;
type StoredClaim = Stored<VolumeClaim>;
type Provision = Extract<ClaimStep, { readonly type: 'provision' }>;

export class VolumeClaimController extends Controller<VolumeClaim> {
  readonly #directories: Directories;
  #claims!: Reflection<VolumeClaim>;
  #volumes!: Reflection<Volume>;
  #classes!: Reflection<StorageClass>;

  constructor(directories: Directories) {
    const reconcile = expecting((work: Work) => this.#reconcile(work));
    super({ name: 'volumeclaim', kind: volumeClaims, cancelOn: false, reconcile });
    this.#directories = directories;
  }

  override setUp(parts: Parts): void {
    this.#claims = this.setUpKind(parts, volumeClaims);
    const unbound = () =>
      [...this.#claims.cache.values()]
        .filter(({ status }) => status?.phase !== 'Bound')
        .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
    this.#volumes = parts.wake(volumes, this.#claims, ({ spec }) => {
      const of = spec?.claimRef;
      return of ? [`${of.namespace}/${of.name}`] : unbound();
    });
    this.#classes = parts.wake(storageClasses, this.#claims, unbound);
  }

  async #reconcile(work: Work): Promise<Verdict | void> {
    const claim = work.object as StoredClaim;
    const step = planClaim({
      claim,
      classes: [...this.#classes.cache.values()] as StorageClass[],
      volumes: [...this.#volumes.cache.values()] as Stored<Volume>[],
    });
    switch (step.type) {
      case 'none':
        return;
      case 'class':
        await change(work, this.#claims, claim, { spec: { storageClassName: step.name } });
        return;
      case 'wait':
        return this.#wait(work, claim, step);
      case 'lost':
        work.events.warning(
          'ClaimLost',
          'Bound claim has lost its PersistentVolume. Data on the volume is lost!',
          'Bind',
        );
        // It has nothing any more.
        await change(
          work,
          this.#claims,
          claim,
          { status: { phase: 'Lost', accessModes: null, capacity: null } },
          'status',
        );
        return;
      case 'provision':
        return this.#provision(work, claim, step);
      case 'bind':
        return this.#bind(work, claim, step.volume);
    }
  }

  async #wait(work: Work, claim: StoredClaim, { reason, message, isProblem }: Extract<ClaimStep, { type: 'wait' }>) {
    if (isProblem) work.events.warning(reason, message, 'Bind');
    else work.events.normal(reason, message, 'Bind');
    if (claim.status?.phase === 'Pending') return;
    await change(work, this.#claims, claim, { status: { phase: 'Pending' } }, 'status');
  }

  /** The volume first: it says for whom the directory is, so that a directory is never left behind that nobody knows of. */
  async #provision(work: Work, claim: StoredClaim, step: Provision): Promise<void> {
    const { uid } = claim.metadata;
    const known = this.#volumes.cache.get(step.volume) as Stored<Volume> | undefined;
    try {
      const wanted = newVolume(claim, step, this.#directories.pathOf(step.volume));
      const made = known ?? (await createIfAbsent(work, this.#volumes, wanted));
      await this.#directories.make(step.volume, uid);
      const live = made ?? (await work.api.resource(volumes).get(step.volume, { signal: work.signal }));
      work.events.normal('ProvisioningSucceeded', `Successfully provisioned volume ${step.volume}`, 'Provision');
      await this.#bind(work, claim, live);
    } catch (error) {
      // Somebody wrote at the same time: the next turn goes on.
      if (isKubeError(error, 'KUBE_CONFLICT')) throw error;
      const note = `failed to provision volume with StorageClass "${step.storageClass.metadata.name}": ${asReeveError(error).message}`;
      work.events.warning('ProvisioningFailed', note, 'Provision');
      throw error;
    }
  }

  /** Volume, then claim, then what both say of it: each step can be the last before a crash, and the next turn goes on. */
  async #bind(work: Work, claim: StoredClaim, volume: Stored<Volume>): Promise<void> {
    const { name, namespace, uid, resourceVersion } = claim.metadata;
    let bound = volume;
    if (volume.spec?.claimRef?.uid !== uid) {
      const of = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, uid, resourceVersion };
      const by = volume.spec?.claimRef ? {} : { annotations: { [BOUND_BY_CONTROLLER]: 'yes' } };
      bound = await change(work, this.#volumes, bound, { metadata: by, spec: { claimRef: of } });
    }
    if (bound.status?.phase !== 'Bound') {
      bound = await change(work, this.#volumes, bound, { status: { phase: 'Bound' } }, 'status');
    }
    let current = claim;
    const isNamed = claim.spec?.volumeName === bound.metadata.name;
    if (!isNamed || claim.metadata.annotations?.[BIND_COMPLETED] !== 'yes') {
      const annotations = { [BIND_COMPLETED]: 'yes', ...(!isNamed && { [BOUND_BY_CONTROLLER]: 'yes' }) };
      const spec = { volumeName: bound.metadata.name };
      current = await change(work, this.#claims, claim, { metadata: { annotations }, spec });
    }
    if (current.status?.phase === 'Bound') return;
    const { accessModes, capacity } = bound.spec ?? {};
    await change(work, this.#claims, current, { status: { phase: 'Bound', accessModes, capacity } }, 'status');
  }
}

function newVolume(claim: StoredClaim, { volume, storageClass, node }: Provision, path: string): Volume {
  const { name, namespace, uid } = claim.metadata;
  const { accessModes = ['ReadWriteOnce'], resources, volumeMode } = claim.spec ?? {};
  const values = node === undefined ? [] : [node];
  const onNode = { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values }] };
  return {
    metadata: { name: volume, annotations: { [PROVISIONED_BY]: PROVISIONER } },
    spec: {
      accessModes,
      capacity: { storage: resources?.requests?.storage ?? '1Gi' },
      storageClassName: storageClass.metadata.name ?? '',
      ...(volumeMode !== undefined && { volumeMode }),
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
      claimRef: {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        name,
        ...(namespace !== undefined && { namespace }),
        uid,
      },
      hostPath: { path, type: 'Directory' },
      // Data stays where it is: so must those who use it.
      ...(node !== undefined && { nodeAffinity: { required: { nodeSelectorTerms: [onNode] } } }),
    },
  };
}
