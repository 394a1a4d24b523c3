/**
 * Differences that are decisions, each with its reason. Each row must really be one: a row whose case has no such
 * difference any more fails the run.
 */
export interface Explanation {
  readonly area: string;
  /** The name of the case. */
  readonly case: string;
  /** The number of the step (or `*`) and the way to the value; what lies below it belongs to it. */
  readonly field: string;
  readonly why: string;
}

type Rows = (area: string, name: string, ...fields: readonly string[]) => readonly Explanation[];

const because =
  (why: string): Rows =>
  (area, name, ...fields) =>
    fields.map((field) => ({ area, case: name, field, why }));

const noProtection = because(
  'the finalizer that protects volumes needs a controller that takes it away; there is none',
);
const noTaint = because('a new node is not tainted: nobody would take the taint away');
const fewerTypes = because('YAML and protobuf are not served, so that the lists of media types are shorter');
const plainNotFound = because('paths that lead nowhere are answered with a Status; the real server sends a text');
const established = because(
  'a definition is established in the request that creates it; the real server does it a moment later, as a manager of its own',
);
const shownAsSent = because('complaints show what was sent; the real server shows its Go structs');
const noWebhooks = because('conversion webhooks are not served');
const ownWords = because('what is wrong with a broken token is not told in the words of Go’s decoder');
const oneDecoder = because(
  'a value of a wrong type in a strategic patch is told of in the words of Go’s JSON decoder; the real server has another one there',
);
const deletionOwned = because(
  'the real server notes who sent a time of deletion, although it ignores it; here nothing is written',
);
const ownVersion = because('the server says who it is');
const nobodysReview = because('reviews and token requests are answered, not stored: nobody owns their fields');

export const explanations: readonly Explanation[] = [
  ...plainNotFound('watch', 'refused: a group that is not there', '0.body', '0.contentType'),
  ...noProtection(
    'apply',
    'quantities are stored in one spelling; applied again in another they change nothing',
    '*.body.metadata.finalizers',
    '*.body.metadata.resourceVersion',
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
  ...['claims', 'claims: what may change', 'claims: what may not change'].flatMap((name) =>
    noProtection('values', name, '*.body.metadata.finalizers'),
  ),
  ...noProtection('objects', 'defaults: a claim', '*.body.metadata.finalizers'),
  ...noProtection('objects', 'defaults: a volume', '*.body.metadata.finalizers'),
  ...noTaint('objects', 'defaults: a node', '*.body.spec.taints'),
  ...oneDecoder('objects', 'fields that nobody knows', '7.body.message', '7.body.details.causes.0.message'),
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
