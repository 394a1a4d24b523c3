/** The refusals that apply itself speaks. */
import type { Status } from '@reeve/kube';
import { failure } from '../status/status.ts';

export const badRequest = (message: string): Status => failure(400, 'BadRequest', message);

/** An error without a reason: that is how the server answers when a configuration does not fit its type. */
export const internalError = (message: string): Status => failure(500, '', message);
