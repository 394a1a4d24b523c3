/** Options that several verbs share, in the groups that their help shows. */
import type { OptionGroup } from '../args.ts';
import { apiOptions } from '../kube/spec.ts';

export const connectionOptions = {
  user: { type: 'text', value: 'NAME', help: 'ACL user. Without it the default user.' },
  'password-file': {
    type: 'text',
    value: 'FILE',
    help: 'File whose first line is the password. Without it, and if the server asks for one, you are prompted.',
  },
  tls: { type: 'flag', help: 'Connect by TLS. Also switched on by the options below.' },
  cacert: { type: 'text', value: 'FILE', help: 'Certificates (PEM) that the servers’ certificate must come from.' },
  cert: { type: 'text', value: 'FILE', help: 'Our certificate (PEM), where servers ask for one.' },
  key: { type: 'text', value: 'FILE', help: 'The key (PEM) of our certificate.' },
  servername: {
    type: 'text',
    value: 'NAME',
    help: 'The name in the servers’ certificate, when it is not their address.',
  },
  insecure: {
    type: 'flag',
    help: 'Danger: accept any certificate; whoever is in between can read and change everything.',
  },
} as const;

export const placementOptions = {
  annotate: {
    type: 'list',
    value: 'ADDR=KEY=VALUE',
    help: 'Where a node lives: 10.0.0.1:6379=zone=a, or for all nodes of a host 10.0.0.1=zone=a. May be repeated.',
  },
  hosts: {
    type: 'text',
    value: 'FILE',
    help: 'The same from a file: JSON {"ADDR": {"zone": "a"}} or lines `ADDR zone=a host=h1`.',
  },
  'spread-by': {
    type: 'text',
    value: 'KEYS',
    help: 'What primary and replicas must not share, most important first. Default: zone,host with annotated zones, else host.',
  },
} as const;

export const outputOptions = {
  json: { type: 'flag', help: 'One JSON document on stdout; progress and questions go to stderr.' },
} as const;

export const operationOptions = {
  'dry-run': { type: 'flag', help: 'Print the plan, why it is so, and its digest; change nothing.' },
  yes: { type: 'flag', help: 'Do not ask: run the plan as it is found.' },
  approve: {
    type: 'text',
    value: 'DIGEST',
    help: 'Run only if the plan has this digest (from --dry-run); else refuse.',
  },
  journal: {
    type: 'text',
    value: 'FILE',
    help: 'Where to write the journal. Default: a new file in $XDG_STATE_HOME/reeve, whose name is printed.',
  },
  resume: { type: 'text', value: 'FILE', help: 'Go on with the operation of this journal from whatever is true now.' },
  rollback: { type: 'text', value: 'FILE', help: 'Move the slots of this journal’s operation back where they were.' },
  'wait-limit': {
    type: 'number',
    value: 'SECONDS',
    least: 1,
    help: 'How long one wait (for gossip, for a replica) may last before the operation stops. Default 120.',
  },
} as const;

export const moveOptions = {
  fast: {
    type: 'flag',
    help: 'As fast as the servers can. The default is gentler: it keeps the latency of clients.',
  },
  engine: {
    type: 'text',
    value: 'ENGINE',
    choices: ['auto', 'atomic', 'windowed', 'redis-atomic'],
    help: 'auto (default): atomic slot migration where both servers have it (Valkey 9), else windowed MIGRATE. redis-atomic (Redis 8.4+) needs --experimental.',
  },
  experimental: {
    type: 'flag',
    help: 'Allow what was tested against the model of a server only: the engine redis-atomic.',
  },
} as const;

/** For a cluster that is given by the name of its RedisCluster. */
export const declaredOptions = apiOptions;

export const groups = {
  declared: { title: 'With the NAME of a RedisCluster', options: declaredOptions },
  connection: { title: 'Connection', options: connectionOptions },
  placement: { title: 'Placement', options: placementOptions },
  output: { title: 'Output', options: outputOptions },
  operation: { title: 'Running', options: operationOptions },
  moves: { title: 'Moving slots', options: moveOptions },
} as const satisfies Readonly<Record<string, OptionGroup>>;
