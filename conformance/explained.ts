/**
 * Differences that are known. Each row must really be one: a row whose case has no such difference any more fails the
 * run. `by design` counts as explained; `not there yet` is a difference that is to go, and is counted as one.
 */
export interface Explanation {
  readonly area: string;
  /** The name of the case. */
  readonly case: string;
  /** The number of the step (or `*`) and the way to the value; what lies below it belongs to it. */
  readonly field: string;
  readonly why: string;
  readonly kind: 'by design' | 'not there yet';
}

type Rows = (area: string, name: string, ...fields: readonly string[]) => readonly Explanation[];

const because =
  (kind: Explanation['kind'], why: string): Rows =>
  (area, name, ...fields) =>
    fields.map((field) => ({ area, case: name, field, why, kind }));

const noAddress = because(
  'not there yet',
  'addresses of services are given by nobody yet; the real server takes them from a range',
);
const noProtection = because(
  'by design',
  'the finalizer that protects volumes needs a controller that takes it away; there is none',
);
const noTaint = because('by design', 'a new node is not tainted: nobody would take the taint away');
const otherStrictness = because(
  'not there yet',
  'a strict patch with unknown fields is refused with 400, as a creation is; the real server says 422 and shows the object',
);
const fewerTypes = because(
  'by design',
  'YAML and protobuf are not served, so that the lists of media types are shorter',
);
const plainNotFound = because(
  'by design',
  'paths that lead nowhere are answered with a Status; the real server sends a text',
);
const established = because(
  'by design',
  'a definition is established in the request that creates it; the real server does it a moment later, as a manager of its own',
);
const shownAsSent = because('by design', 'complaints show what was sent; the real server shows its Go structs');
const noWebhooks = because('by design', 'conversion webhooks are not served');
const ownWords = because('by design', 'what is wrong with a broken token is not told in the words of Go’s decoder');
const deletionOwned = because(
  'by design',
  'the real server notes who sent a time of deletion, although it ignores it; here nothing is written',
);
const ownVersion = because('by design', 'the server says who it is');
const nobodysReview = because(
  'by design',
  'reviews and token requests are answered, not stored: nobody owns their fields',
);

export const explanations: readonly Explanation[] = [
  ...plainNotFound('watch', 'refused: a group that is not there', '0.body', '0.contentType'),
  ...noAddress(
    'apply',
    'ports of a Service are told apart by port and protocol',
    '*.body.spec.clusterIP',
    '*.body.spec.clusterIPs',
  ),
  ...noAddress('apply', 'the selector of a Service is one value', '*.body.spec.clusterIP', '*.body.spec.clusterIPs'),
  ...noProtection(
    'apply',
    'quantities are stored in one spelling; applied again in another they change nothing',
    '*.body.metadata.finalizers',
    '*.body.metadata.resourceVersion',
  ),
  ...noAddress(
    'patch',
    'strategic: ports are merged by port alone, whatever the protocol',
    '*.body.spec.clusterIP',
    '*.body.spec.clusterIPs',
  ),
  ...deletionOwned(
    'deletion',
    'the marks of a deletion cannot be changed',
    '3.body.metadata.resourceVersion',
    '3.body.metadata.managedFields',
    '4.body.items.0.metadata.resourceVersion',
    '4.body.items.0.metadata.managedFields',
  ),
  ...established('deletion', 'a definition takes its objects with it', '3.body.metadata.managedFields'),
  ...plainNotFound('deletion', 'a definition takes its objects with it', '6.body', '6.contentType'),
  ...['no stored version', 'two stored versions', 'a version twice'].flatMap((name) =>
    shownAsSent('custom', `refused: ${name}`, '0.body.details.causes.0.message', '0.body.message'),
  ),
  ...noWebhooks('custom', 'refused: a conversion by webhook without one', '0.body.details.causes', '0.body.message'),
  ...established(
    'custom',
    'the conditions of a new definition',
    '0.body.status',
    '1.body.metadata.resourceVersion',
    '1.body.metadata.managedFields',
  ),
  ...established('custom', 'a version that is not served', '1.body.metadata.managedFields'),
  ...plainNotFound('custom', 'a version that is not served', '2.body', '2.contentType'),
  ...plainNotFound('custom', 'a kind without namespaces', '2.body', '2.contentType', '3.body', '3.contentType'),
  ...established('custom', 'another schema is in force after an update', '1.body.metadata.managedFields'),
  ...established('custom', 'what is already wrong may stay as it is, and only that', '1.body.metadata.managedFields'),
  ...ownWords('custom', 'lists in pages', '9.body.message'),
  ...established(
    'custom',
    'an object can be brought back after its kind was',
    '1.body.metadata.managedFields',
    '3.body.status',
  ),
  ...noProtection('objects', 'defaults: a claim', '*.body.metadata.finalizers'),
  ...noProtection('objects', 'defaults: a volume', '*.body.metadata.finalizers'),
  ...noTaint('objects', 'defaults: a node', '*.body.spec.taints'),
  ...otherStrictness('objects', 'fields that nobody knows', '3.code', '3.body'),
  ...fewerTypes(
    'objects',
    'media types',
    '0.body.message',
    '1.body.details',
    '1.body.message',
    '4.body.details',
    '4.body.message',
  ),
  ...plainNotFound('objects', 'discovery', '3.body', '3.contentType'),
  ...ownVersion('access', 'everybody may look at what there is', '0.body'),
  ...nobodysReview('access', 'reviews of oneself', '*.body.metadata.managedFields'),
  ...nobodysReview('access', 'reviews of somebody', '*.body.metadata.managedFields'),
  ...nobodysReview('access', 'tokens of service accounts', '*.body.metadata.managedFields'),
  ...nobodysReview('access', 'tokens of pods end with them', '2.body.metadata.managedFields'),
  ...nobodysReview('access', 'impersonation must be allowed', '1.body.metadata.managedFields'),
];
