/** The refusals that apply itself speaks. */
import type { Status } from '@reeve/kube';

export function badRequest(message: string): Status {
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', message, reason: 'BadRequest', code: 400 };
}

/** An error without a reason: that is how the server answers when a configuration does not fit its type. */
export function internalError(message: string): Status {
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', message, code: 500 };
}
