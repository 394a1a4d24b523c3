/** What a server answers when it does not answer with an object. */
export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly status?: 'Success' | 'Failure';
  readonly message?: string;
  /** A word for machines: NotFound, AlreadyExists, Conflict, Expired … */
  readonly reason?: string;
  readonly details?: StatusDetails;
  /** The HTTP status. */
  readonly code?: number;
}

export function isStatus(value: unknown): value is Status {
  return (
    typeof value === 'object' &&
    value !== null &&
    (value as Partial<Status>).kind === 'Status' &&
    (value as Partial<Status>).apiVersion === 'v1'
  );
}
