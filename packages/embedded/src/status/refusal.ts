/** Why a request is not carried out: a Status with the real server's code, reason, message and details. */
import type { Status, StatusCause, StatusDetails } from '@reeve/kube';
import { causeOf, type FieldError, invalid, sentenceOf } from './field-error.ts';
import { failure } from './status.ts';

/** Some answers of the server carry list metadata: where to go on after an expired page. */
export interface RefusalStatus extends Status {
  readonly metadata: { readonly continue?: string };
}

/** A Status that something else made, as a refusal. */
export function refusalOf(status: Status): Refusal {
  const { code = 500, reason = '', message = '', details } = status;
  return new Refusal(code, reason, message, details);
}

export class Refusal extends Error {
  readonly status: RefusalStatus;
  /** What was found odd before the request was refused. */
  warnings: readonly string[] = [];

  constructor(code: number, reason: string, message: string, details?: StatusDetails, from?: string) {
    super(message);
    this.name = 'Refusal';
    const { kind, apiVersion, ...rest } = failure(code, reason, message, details);
    // In the order in which the server writes it.
    this.status = { kind, apiVersion, metadata: from === undefined ? {} : { continue: from }, ...rest };
  }
}

/** What was told is told with a refusal, too. */
export function withWarnings(error: unknown, told: readonly string[]): unknown {
  if (error instanceof Refusal) error.warnings = [...told];
  return error;
}

/** Which resource a refusal is about; as text `pods` or `statefulsets.apps`. */
export interface GroupResource {
  readonly group: string;
  readonly plural: string;
}

export const resourceText = ({ group, plural }: GroupResource): string =>
  group === '' ? plural : `${plural}.${group}`;

/** Group, kind and name: what is empty is left out. The server puts the plural where it says `kind`. */
const detailsOf = ({ group, plural }: GroupResource, name: string): StatusDetails => ({
  ...(name === '' ? {} : { name }),
  ...(group === '' ? {} : { group }),
  ...(plural === '' ? {} : { kind: plural }),
});

const quoted = (text: string): string => JSON.stringify(text);

export const notFound = (of: GroupResource, name: string): Refusal =>
  new Refusal(404, 'NotFound', `${resourceText(of)} ${quoted(name)} not found`, detailsOf(of, name));

/** For paths that lead nowhere. */
export const noSuchPath = (): Refusal =>
  new Refusal(404, 'NotFound', 'the server could not find the requested resource', {});

export const methodNotAllowed = (): Refusal =>
  new Refusal(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});

export const alreadyExists = (of: GroupResource, name: string, isDeleting = false): Refusal => {
  const text = `${resourceText(of)} ${quoted(name)} already exists`;
  return new Refusal(409, 'AlreadyExists', isDeleting ? `object is being deleted: ${text}` : text, detailsOf(of, name));
};

export const generateNameConflict = (of: GroupResource, name: string): Refusal =>
  new Refusal(
    409,
    'AlreadyExists',
    `${resourceText(of)} ${quoted(name)} already exists, the server was not able to generate a unique name for the object`,
    { ...detailsOf(of, name), retryAfterSeconds: 1 },
  );

export const conflict = (of: GroupResource, name: string, why: string): Refusal =>
  new Refusal(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${resourceText(of)} ${quoted(name)}: ${why}`,
    detailsOf(of, name),
  );

export const modifiedSince = (of: GroupResource, name: string): Refusal =>
  conflict(of, name, 'the object has been modified; please apply your changes to the latest version and try again');

export const unauthorized = (): Refusal => new Refusal(401, 'Unauthorized', 'Unauthorized');

export function forbiddenRequest(
  of: GroupResource,
  name: string,
  why: string,
  causes?: readonly StatusCause[],
): Refusal {
  const subject = of.plural === '' ? '' : name === '' ? resourceText(of) : `${resourceText(of)} ${quoted(name)}`;
  return new Refusal(403, 'Forbidden', subject === '' ? `forbidden: ${why}` : `${subject} is forbidden: ${why}`, {
    ...detailsOf(of, name),
    ...(causes === undefined ? {} : { causes }),
  });
}

/** @param of kind, not plural, stands in these: `Pod "x" is invalid`. */
export function invalidObject(
  of: { readonly group: string; readonly kind: string },
  name: string,
  errors: readonly FieldError[],
): Refusal {
  const kind = of.group === '' ? of.kind : `${of.kind}.${of.group}`;
  return new Refusal(422, 'Invalid', `${kind} ${quoted(name)} is invalid: ${sentenceOf(errors)}`, {
    ...(name === '' ? {} : { name }),
    ...(of.group === '' ? {} : { group: of.group }),
    ...(of.kind === '' ? {} : { kind: of.kind }),
    causes: errors.map(causeOf),
  });
}

/** Of what a patch makes the server says neither what it is nor what it is called. */
export const invalidPatch = (shown: string, problem: string): Refusal =>
  invalidObject({ group: '', kind: '' }, '', [invalid('patch', shown, problem)]);

export const invalidOptions = (kind: string, errors: readonly FieldError[]): Refusal =>
  invalidObject({ group: 'meta.k8s.io', kind }, '', errors);

/** In the words of a server that has Go types for its kinds. */
export const undecodable = (kind: string, version: string, problem: string): Refusal =>
  badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${problem}`);

export const badRequest = (message: string): Refusal => new Refusal(400, 'BadRequest', message);

export const expired = (message: string, from?: string): Refusal =>
  new Refusal(410, 'Expired', message, undefined, from);

export const tooLargeVersion = (wanted: bigint, current: number): Refusal =>
  new Refusal(504, 'Timeout', `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });

export const tooLargeBody = (limit: number): Refusal =>
  new Refusal(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${limit}`);

export const notAcceptable = (accepted: readonly string[]): Refusal =>
  new Refusal(406, 'NotAcceptable', `only the following media types are accepted: ${accepted.join(', ')}`);

export const unsupportedMediaType = (accepted: readonly string[]): Refusal =>
  new Refusal(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  );

export const internalError = (message: string): Refusal =>
  new Refusal(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] });
