/** Names that the server itself knows. */
export const ANONYMOUS = 'system:anonymous';
export const MASTERS = 'system:masters';
export const AUTHENTICATED = 'system:authenticated';
export const UNAUTHENTICATED = 'system:unauthenticated';
export const NODES = 'system:nodes';
export const SERVICE_ACCOUNTS = 'system:serviceaccounts';
export const MONITORING = 'system:monitoring';

export const RBAC = 'rbac.authorization.k8s.io';
