/** What a patch comes to: the new object, or the server's refusal. */
import type { Json, Status } from '@reeve/kube';
import type { JsonObject } from '../object/draft.ts';
import { failure } from '../status/status.ts';

export type PatchResult =
  | {
      readonly object: JsonObject;
      /** What is odd about the patch itself. */
      readonly strictErrors?: readonly string[];
    }
  | {
      readonly status: Status;
      /** What was wrong, where the server's own message does not say it. For logs. */
      readonly because?: string;
    };

/** Thrown while a patch is carried out; becomes a `status`. */
export class PatchFailure extends Error {
  readonly code: 400 | 413 | 422 | 500;

  constructor(code: 400 | 413 | 422 | 500, message: string) {
    super(message);
    this.code = code;
  }
}

/** Runs a patch; whatever else it throws is a bug and passes. */
export function attempted(patch: () => Json, strictErrors: readonly string[] = []): PatchResult {
  try {
    const object = patch();
    if (typeof object !== 'object' || object === null || Array.isArray(object)) {
      throw new PatchFailure(422, 'the patched document is no object');
    }
    return { object, strictErrors };
  } catch (error) {
    if (!(error instanceof PatchFailure)) throw error;
    return { status: statusOf(error), because: error.message };
  }
}

function statusOf({ code, message }: PatchFailure): Status {
  switch (code) {
    case 400:
      return failure(code, 'BadRequest', message);
    case 413:
      return failure(code, 'RequestEntityTooLarge', `Request entity too large: ${message}`);
    case 422:
      // The server keeps to itself what was wrong with the patch.
      return failure(code, 'Invalid', 'the server rejected our request due to an error in our request', {});
    case 500:
      return failure(code, '', message);
  }
}

/** How Go's JSON reader calls it. */
export function jsonSort(value: Json): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'bigint' ? 'number' : typeof value;
}
