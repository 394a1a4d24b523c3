/** What clients must know of leases. Of leaders, members and worker nodes alike. */
export const leaseKind = {
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
} as const;
