/** What `reeve agent VERB` takes. The code of a verb, which brings a Kubernetes client along, is loaded when it is asked for. */
import { type CommandSpec, type OptionGroup, type OptionSpecs, optionsOf, parseLine } from '../args.ts';
import type { ExitCode } from '../errors.ts';
import { connectionOptions } from '../redis/options.ts';
import type { Verb, VerbLine } from '../redis/verb.ts';

const kubeconfig = {
  type: 'text',
  value: 'FILE',
  help: 'of the API server. Default: KUBECONFIG, ~/.kube/config, or what a pod is given',
} as const;

const whereOptions = {
  endpoint: { type: 'text', value: 'HOST:PORT', help: 'the server. Default: as enrolled, else 127.0.0.1:6379' },
  member: { type: 'text', value: 'NAME', help: 'the Member to speak for. Default: as enrolled, else $POD_NAME' },
  namespace: { type: 'text', value: 'NS', help: 'of the Member. Default: as enrolled, else $POD_NAMESPACE' },
  cluster: { type: 'text', value: 'NAME', help: 'the RedisCluster that the server belongs to. Default: as enrolled' },
  annotate: {
    type: 'list',
    value: 'KEY=VALUE',
    help: 'where the server lives: zone=a, host=h1. May be repeated. In a pod also from $NODE_NAME, $NODE_ZONE, $NODE_REGION, and from spec.annotations of its Member',
  },
} as const satisfies OptionSpecs;

const identityOptions = {
  identity: { type: 'text', value: 'FOLDER', help: 'that `reeve agent enroll` wrote; its token is kept fresh' },
  kubeconfig,
} as const satisfies OptionSpecs;

export type RedisAgentSpecs = typeof whereOptions & typeof identityOptions & typeof connectionOptions;

const enrollOptions = {
  namespace: { type: 'text', value: 'NS', help: 'of the Member. Default: that of the kubeconfig' },
  endpoint: { type: 'text', value: 'HOST:PORT', help: 'the server, as the manager and the other nodes reach it' },
  cluster: { type: 'text', value: 'NAME', help: 'the RedisCluster that the server belongs to' },
  out: {
    type: 'text',
    value: 'FOLDER',
    help: 'where the identity is written: kubeconfig and token, for this user only',
  },
  server: { type: 'text', value: 'URL', help: 'of the API, as the host reaches it. Default: as in the kubeconfig' },
  'no-renewal': {
    type: 'flag',
    help: 'the agent may not renew its own token: run --renew before each day is over',
  },
  kubeconfig: { ...kubeconfig, help: 'of an administrator. Default: KUBECONFIG or ~/.kube/config' },
} as const satisfies OptionSpecs;

const laterOptions = {
  renew: { type: 'flag', help: 'a new token into the folder --out; the old one stays valid until it expires' },
  revoke: {
    type: 'flag',
    help: 'deletes account, rights, lease and Member: its tokens are worth nothing from then on',
  },
  yes: { type: 'flag', help: 'do not ask before revoking' },
  force: { type: 'flag', help: 'Danger: revoke also while orders are open; nobody can ask any more how they ended' },
} as const satisfies OptionSpecs;

export type EnrollSpecs = typeof enrollOptions & typeof laterOptions;

function agentVerb<Specs extends OptionSpecs>(
  spec: CommandSpec & { readonly groups: readonly OptionGroup[] },
  load: () => Promise<(line: VerbLine<Specs>) => Promise<ExitCode>>,
): Verb {
  return {
    spec,
    async run(argv, io, signal) {
      const { words, values, help } = parseLine(optionsOf(spec) as Specs, argv);
      if (help) return 'help';
      return (await load())({ words, values, io, signal });
    },
  };
}

export const agentVerbs: readonly Verb[] = [
  agentVerb<RedisAgentSpecs>(
    {
      name: 'agent redis',
      takes: '[--identity FOLDER] [--endpoint HOST:PORT] [--annotate KEY=VALUE]…',
      summary: 'the agent beside one Redis or Valkey server',
      description: [
        'Looks at the server every second, reports what changed into its Member, and carries out the orders that the manager writes there. It changes nothing unless it is ordered to. Runs until SIGTERM; what it carries out is stopped at a safe place first.',
        'In a pod it is who the pod is. On a bare host give the folder that `reeve agent enroll` wrote. The password comes from --password-file or $REEVE_REDIS_PASSWORD.',
      ],
      groups: [
        { title: 'Who and where', options: whereOptions },
        { title: 'The API', options: identityOptions },
        { title: 'Connection', options: connectionOptions },
      ],
      examples: [
        {
          line: 'reeve agent redis --identity /etc/reeve/db-1 --annotate zone=a',
          what: 'beside the server that was enrolled as db-1',
        },
      ],
    },
    async () => (await import('./redis-agent.ts')).runRedisAgent,
  ),
  agentVerb<EnrollSpecs>(
    {
      name: 'agent enroll',
      takes: 'NAME --endpoint HOST:PORT --out FOLDER [--cluster NAME] | NAME --renew --out FOLDER | NAME --revoke',
      summary: 'gives the agent of a bare host an identity of its own; renews it, takes it away',
      description: [
        'For an administrator. Makes the Member and an account that may write the status of this one Member and its lease, and nothing else, and writes a kubeconfig with a token of 24 hours. Bring the folder to the host, readable for the user of the agent only.',
        'Done again, it changes nothing but the token.',
      ],
      groups: [
        { title: 'Options', options: enrollOptions },
        { title: 'Later', options: laterOptions },
      ],
      examples: [
        {
          line: 'reeve agent enroll db-1 --namespace shop --endpoint 10.0.0.5:6379 --cluster cache --out ./db-1',
          what: 'the server at 10.0.0.5 becomes the member db-1',
        },
        { line: 'reeve agent enroll db-1 --namespace shop --revoke', what: 'db-1 is nobody any more' },
      ],
    },
    async () => (await import('./enroll.ts')).runEnroll,
  ),
];
