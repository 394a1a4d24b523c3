/**
 * Errors of the embedded server as a program: its store, its files. What a client did wrong is no error of the server: it
 * gets a `Status` (status/refusal.ts). The shape is that of the runtime's `ReeveError`, which this package cannot import.
 */
interface ErrorDescription {
  readonly meaning: string;
  readonly remedy: string;
}
type ErrorCatalog = Readonly<Record<string, ErrorDescription>>;

export class EmbeddedError extends Error {
  readonly code: EmbeddedErrorCode;
  /** What the error is about: a file, a folder. Never a secret. */
  readonly subjects: readonly string[];

  constructor(code: EmbeddedErrorCode, message: string, subjects: readonly string[] = [], cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'EmbeddedError';
    this.code = code;
    this.subjects = subjects;
  }
}

export const embeddedErrors = {
  EMBEDDED_STORE_LOCKED: {
    meaning: 'Another process has the store open. Two servers on one store would undo each other’s work.',
    remedy: 'Stop the other server, or give this one a store of its own.',
  },
  EMBEDDED_STORE_UNREADABLE: {
    meaning: 'The file is no store, is damaged, or was written by a newer version.',
    remedy: 'Check the path. If it is right, put the last backup in its place; do not delete the file.',
  },
  EMBEDDED_STORE_FAILED: {
    meaning: 'The store could not write, so it writes no more. Everything it acknowledged before is kept.',
    remedy: 'The message has the cause (a full disk, most often). Mend it and start the server again.',
  },
  EMBEDDED_STORE_FULL: {
    meaning:
      'There is no room on the disk for this write, and nothing of it was stored. What was stored before is served.',
    remedy: 'Make room on the disk of the store. It takes writes again from then on; it need not be started again.',
  },
  EMBEDDED_BACKUP: {
    meaning: 'The store could not be copied. It goes on as before.',
    remedy: 'The message has the cause: a full disk, a folder that may not be written, a file that is there already.',
  },
  EMBEDDED_DEFINITION: {
    meaning:
      'A CustomResourceDefinition in the store cannot be made a kind. That kind is not served; its objects are kept.',
    remedy:
      'This is a bug: report it with the definition. Change the definition, or delete it, to go on without the kind.',
  },
  EMBEDDED_POLICY: {
    meaning:
      'A ValidatingAdmissionPolicy in the store cannot be compiled. Writes that it is asked about are refused, unless its failurePolicy is Ignore.',
    remedy: 'This is a bug: report it with the policy. Change the policy, or delete it, to go on without it.',
  },
  EMBEDDED_SERVICE_RANGE: {
    meaning: 'The range that services are to get their addresses from is no IPv4 network, or none of a usable size.',
    remedy: 'Give one like 10.96.0.0/16, with nothing after the network’s own bits.',
  },
  EMBEDDED_TOKEN_FILE: {
    meaning: 'The file with the access token is missing, empty, or others than its owner may read it.',
    remedy: 'Write a long random token into it and set its mode to 0600.',
  },
  EMBEDDED_KEY_FILE: {
    meaning: 'The file with the key that signs tokens of service accounts is no usable key, or others may read it.',
    remedy:
      'Set its mode to 0600. If it is damaged, remove it: a new key is made, and all tokens must be asked for anew.',
  },
} as const satisfies ErrorCatalog;

export type EmbeddedErrorCode = keyof typeof embeddedErrors;
