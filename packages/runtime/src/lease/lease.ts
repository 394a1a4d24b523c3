/** The Lease of coordination.k8s.io, as far as leaders need it. */
import { type KubeObject, resource } from '@reeve/kube';
import { leaseKind } from './kind.ts';

export interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    /** Grows with every term. Together with the holder it names one. */
    readonly leaseTransitions?: number;
  };
}

export const leases = resource<Lease>(leaseKind);
