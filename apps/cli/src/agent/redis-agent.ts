/** `reeve agent redis`: the agent of one server, until it is told to stop. */
import { resolve } from 'node:path';
import { connect, loadContext } from '@reeve/kube';
import { type ConnectOptions, type Endpoint, formatEndpoint, redisAgent } from '@reeve/redis';
import { asReeveError, listWatchOf } from '@reeve/runtime';
import type { Values } from '../args.ts';
import { STOPPING } from '../command.ts';
import { cliError, type ExitCode, exit, usage } from '../errors.ts';
import type { Io } from '../io.ts';
import { parseEndpoint } from '../redis/address.ts';
import { connectOptions } from '../redis/session.ts';
import type { VerbLine } from '../redis/verb.ts';
import { version } from '../version.ts';
import { annotationsFrom } from './annotations.ts';
import { Complaints } from './complaints.ts';
import { FreshRedis } from './fresh-redis.ts';
import { type Identity, readIdentity } from './identity.ts';
import { accounts, kubePorts, leases, members } from './kube.ts';
import { systemPlace } from './system-place.ts';
import { together } from './together.ts';
import { keepTokenFresh } from './token.ts';
import type { RedisAgentSpecs } from './verbs.ts';

const DEFAULT_ENDPOINT = '127.0.0.1:6379';
const PASSWORD = 'REEVE_REDIS_PASSWORD';

/** Whom the agent speaks for, and of which server. */
interface Post {
  readonly member: string;
  readonly namespace: string;
  readonly endpoint: Endpoint;
  readonly cluster: string | undefined;
  /** In a pod: of that pod only. */
  readonly podUid: string | undefined;
}

export async function runRedisAgent({ words, values, io, signal }: VerbLine<RedisAgentSpecs>): Promise<ExitCode> {
  if (words.length > 0) throw usage(`reeve agent redis takes no '${words[0]}'`);
  if (values.identity !== undefined && values.kubeconfig !== undefined) {
    throw usage('--identity has a kubeconfig of its own: leave out --kubeconfig');
  }
  const { clock, files } = io.ports;
  const identity = values.identity === undefined ? undefined : await readIdentity(files, resolve(values.identity));
  const file = identity?.kubeconfig ?? values.kubeconfig;
  const load = file === undefined ? {} : { file };
  const ports = kubePorts(io);
  const context = await loadContext(ports, load);
  const post = postOf(io, values, identity, context.namespace);
  const annotations = annotationsFrom(io.env, values.annotate);
  const place = post.podUid ?? (await placeOf(`${context.cluster.server} ${post.namespace}/${post.member}`));

  using connection = await connect(ports, load);
  const { client } = connection;
  const own = client.resource(members, post.namespace);
  const complaints = new Complaints(clock, io.err);
  const failed = (message: string) => complaints.add(message);
  const read = () => redisAccess(io, values, post.endpoint);
  const redis = await FreshRedis.open(clock, { read, connect: io.connect, failed });
  const agent = redisAgent(io.ports, {
    namespace: post.namespace,
    name: post.member,
    version,
    ...(post.podUid !== undefined && { podUid: post.podUid }),
    place,
    source: listWatchOf(own, { fieldSelector: `metadata.name=${post.member}` }),
    members: own,
    leases: client.resource(leases, post.namespace),
    redis,
    endpoint: post.endpoint,
    ...(post.cluster !== undefined && { cluster: post.cluster }),
    ...(Object.keys(annotations).length > 0 && { annotations }),
    failed: (error) => complaints.add(asReeveError(error).message),
  });
  io.out(`agent of ${post.namespace}/${post.member}, beside ${formatEndpoint(post.endpoint)}\n`);
  const renewal = identity && {
    accounts: client.resource(accounts, identity.namespace),
    account: identity.account,
    tokenFile: identity.tokenFile,
    failed,
  };
  signal.addEventListener('abort', () => io.err(STOPPING), { once: true });
  try {
    await together(signal, [
      (until) => agent.run(until),
      (until) => redis.follow(until),
      ...(renewal ? [(until: AbortSignal) => keepTokenFresh(io.ports, renewal, until)] : []),
    ]);
  } finally {
    await redis.close();
  }
  return exit.ok;
}

function postOf(
  { env }: Io,
  values: Values<RedisAgentSpecs>,
  identity: Identity | undefined,
  contextNamespace: string,
): Post {
  const member = values.member ?? identity?.member ?? env.POD_NAME;
  if (member === undefined || member === '') {
    throw usage('which Member? Give --identity FOLDER or --member NAME, or run in a pod that has POD_NAME');
  }
  // Somebody who speaks for another member than that of his pod is no pod's agent.
  const podUid = member === env.POD_NAME ? env.POD_UID : undefined;
  return {
    member,
    namespace: values.namespace ?? identity?.namespace ?? env.POD_NAMESPACE ?? contextNamespace,
    endpoint: parseEndpoint(values.endpoint ?? identity?.endpoint ?? DEFAULT_ENDPOINT),
    cluster: values.cluster ?? identity?.cluster,
    podUid: podUid === '' ? undefined : podUid,
  };
}

async function redisAccess(io: Io, values: Values<RedisAgentSpecs>, endpoint: Endpoint): Promise<ConnectOptions> {
  const options = await connectOptions(io, values, [endpoint]);
  const password = io.env[PASSWORD];
  if (password === undefined || password === '' || options.password !== undefined) return options;
  return { ...options, password };
}

async function placeOf(name: string): Promise<string> {
  const place = await systemPlace(name);
  if (!place) throw cliError('AGENT_RUNNING', 'an agent of this member runs on this machine already', [name]);
  return place.id;
}
