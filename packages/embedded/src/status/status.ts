/** The one form in which the server says no. */
import type { Status, StatusDetails } from '@reeve/kube';

/** @param reason empty where the real server gives none. */
export function failure(code: number, reason: string, message: string, details?: StatusDetails): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    message,
    ...(reason === '' ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
    code,
  };
}
