/** The page that says what the embedded server serves, made from its tables of kinds and of access. */
import type { AccessServed, Kind } from '@reeve/embedded';

const VERBS: readonly (readonly [string, string])[] = [
  ['create', 'c'],
  ['get', 'g'],
  ['list', 'l'],
  ['watch', 'w'],
  ['update', 'u'],
  ['patch', 'p'],
  ['delete', 'd'],
  ['deletecollection', 'D'],
];

const HEAD = '| version | kind | plural | short | namespaced | verbs | subresources | fields |';
const HEAD_LINE = '|---|---|---|---|---|---|---|---|';

const code = (texts: readonly string[]): string => texts.map((text) => `\`${text}\``).join(', ');

function row({ group, plural, kind, namespaced, shortNames, verbs, versions }: Kind): string {
  const [version] = versions;
  const below = [
    ...(version?.status ? ['status'] : []),
    ...(version?.scale ? ['scale'] : []),
    ...(version?.others ?? []),
    ...(version?.connects ?? []).map(({ name }) => name),
  ];
  const letters = VERBS.filter(([verb]) => (verbs as readonly string[]).includes(verb)).map(([, letter]) => letter);
  const apiVersions = versions.map(({ name }) => (group === '' ? name : `${group}/${name}`));
  return `| ${code(apiVersions)} | ${kind} | \`${plural}\` | ${code(shortNames)} | ${namespaced ? 'yes' : 'no'} | ${letters.join('')} | ${code(below)} | ${code(version?.fields ?? [])} |`;
}

/** What of the values of built-in kinds is looked at, and what of it the real server looks at besides. */
const VALUES: readonly (readonly [string, string, string])[] = [
  [
    'Pod, and templates of pods',
    'containers (names, images, ports, environment, mounts, resources, probes, hooks), volumes, restart and DNS policy, names of node, host, account and priority class, tolerations, selectors of affinity and spreading, ids of users and groups; what may change; warnings of ports, environment, fractions of bytes, empty selectors',
    'the rest of security contexts, node affinity, DNS settings, overhead, resource claims, huge pages, operating systems, volumes of storage systems, rules of restarts, annotations with a meaning, statuses of containers; whether a priority class is there',
  ],
  ['StatefulSet, Deployment, ReplicaSet', 'all of the spec; what may change; counts of the status', 'conditions'],
  [
    'Job',
    'counts, modes, restart policy, selector; what may change',
    'policies of success and failure, `managedBy`, the status',
  ],
  [
    'Service',
    'ports, addresses, families, types, policies, affinity; what may change; warnings',
    'source ranges, what stands in `ingress`',
  ],
  [
    'PersistentVolumeClaim, PersistentVolume',
    'access modes, sizes, classes; what may change',
    'data sources, node affinity, what stands in a source; whether a class lets claims grow',
  ],
  [
    'ConfigMap, Secret',
    'keys, size, `immutable`, what a type of secret must have',
    'whether a certificate fits its key',
  ],
  [
    'Endpoints, EndpointSlice',
    'addresses, names, ports',
    'ranges of addresses: those of loopback are taken, because pods of a local node have no others',
  ],
  ['Event (`v1`)', 'namespaces, and what a newer event must have', 'lengths; what may change; `events.k8s.io/v1`'],
  [
    'Lease, PodDisruptionBudget, ControllerRevision, PriorityClass, StorageClass, RBAC',
    'all that an operator writes',
    'conditions, allowed topologies',
  ],
  ['Namespace, Node, ServiceAccount', 'metadata', 'taints, addresses and resources of nodes'],
];

/** Only where the server has `AccessControl`, but for the headers: those are read everywhere. */
function accessLines({ reviews, tokens, impersonation: { headers, modes } }: AccessServed): readonly string[] {
  const { user, uid, group, extra } = headers;
  const asked = [user, uid, group, `${extra}KEY`];
  return [
    '## Access',
    '',
    'A server with `AccessControl` ([0012](designs/0012-access.md)) answers these besides; nothing of them is stored.',
    '',
    HEAD,
    HEAD_LINE,
    ...reviews.map(row),
    '',
    `\`${tokens.resource}/${tokens.subresource}\` takes a TokenRequest (create only; discovery does not list it): a token of the account, bound to a pod, a secret or a node if so wished.`,
    '',
    `Every server lets requests act as somebody else, by the headers ${code(asked)}, if the user may: by one of the modes ${code(modes)}, tried in this order; the last is the verb \`impersonate\` alone.`,
  ];
}

/** Only where somebody runs pods. */
const PODS: readonly string[] = [
  '## Pods',
  '',
  'A server with `pods` (whoever runs them) serves what runs in them; others say that they do not, and discovery does not list it.',
  '',
  '| what | served | not served |',
  '|---|---|---|',
  '| `pods/log` (get) | text, as it is written; `container`, `follow`, `previous`, `tailLines`, `limitBytes` | `timestamps`, `sinceSeconds`, `sinceTime` (501: nobody writes down when a line was written) |',
  '| `pods/exec` (get, create) | WebSocket with `v5.channel.k8s.io` or `v4.channel.k8s.io`; `container`, `command`, `stdin`, `stdout`, `stderr`; whoever opens one must be allowed to get and to create it | SPDY, `tty` (501) |',
  '',
  'With `serviceAccounts` new pods get their account, its token and its pull secrets, as by the admission plugin `ServiceAccount`; secrets that an account may mount are not limited (`kubernetes.io/enforce-mountable-secrets`).',
];

export function servedPage(kinds: readonly Kind[], access: AccessServed): string {
  return `${[
    '# What the embedded API server serves',
    '',
    'Generated by `npm run docs` from `packages/embedded/src/kinds` and `packages/embedded/src/access`; do not edit. What is not on this page is answered with a Status that says so.',
    '',
    '## Kinds',
    '',
    'Verbs: create, get, list, watch, update, patch, delete, D = deletecollection. Fields are those that `fieldSelector` takes besides `metadata.name` and `metadata.namespace`.',
    'Kinds of CustomResourceDefinitions are served with all verbs, in all served versions (conversion `None`), with `status`, `scale` and selectable fields as they say.',
    '',
    HEAD,
    HEAD_LINE,
    ...kinds.map(row),
    '',
    ...accessLines(access),
    '',
    ...PODS,
    '',
    '## Values',
    '',
    'Fields of built-in kinds are known and of their types. Their values are checked as the real server does it, in its words, unless the last column says otherwise.',
    '',
    '| kind | checked | not checked |',
    '|---|---|---|',
    ...VALUES.map((texts) => `| ${texts.join(' | ')} |`),
    '',
    'Services get their addresses from one IPv4 network (`serviceRange`, 10.96.0.0/16) and ports on nodes from 30000-32767; what is taken is found in the services themselves. There are no second families, no `ServiceCIDR` and no `IPAddress`, no service `kubernetes`; endpoints are not deleted with their service.',
    'There are no bindings: the node of a pod is said when it is created, or once by an update.',
    '',
    '## Media types',
    '',
    '| what | served | not served |',
    '|---|---|---|',
    '| answers | `application/json`; `as=PartialObjectMetadata(List);g=meta.k8s.io;v=v1` on get, list, watch | Table, YAML, protobuf, CBOR (406) |',
    '| bodies of create and update | `application/json` | YAML, protobuf, CBOR (415) |',
    '| patches | merge, JSON, strategic (built-in kinds), apply (its body as JSON; not through `scale`) | YAML, CBOR (415) |',
    '',
    '## Parameters',
    '',
    '| verb | parameters |',
    '|---|---|',
    '| get | `resourceVersion` |',
    '| list | `limit`, `continue`, `resourceVersion`, `resourceVersionMatch`, `labelSelector`, `fieldSelector` |',
    '| watch | `resourceVersion`, `resourceVersionMatch`, `sendInitialEvents`, `allowWatchBookmarks`, `timeoutSeconds`, `labelSelector`, `fieldSelector` |',
    '| create, update, patch | `dryRun`, `fieldManager`, `fieldValidation`, `force` (apply) |',
    '| delete, deletecollection | `propagationPolicy`, `gracePeriodSeconds`, `orphanDependents`, `dryRun`, preconditions; in the body or the query; selectors for collections |',
    '',
    '## Other paths',
    '',
    '`/api`, `/apis`, `/apis/GROUP`, `/apis/GROUP/VERSION`, `/api/v1`, `/version`, `/livez`, `/readyz`, `/healthz`. Not served yet: aggregated discovery, `/openapi`, the old `/watch/` paths.',
  ].join('\n')}\n`;
}
