/** One visit to a cluster: credentials, connections, addresses and annotations from the command line. */
import { isIP } from 'node:net';
import {
  type ClusterView,
  type ConnectOptions,
  type Endpoint,
  type Environment,
  formatEndpoint,
  type ObserveOptions,
  observeCluster,
  type RedisPort,
  type RunEvent,
  redisContext,
  redisHandlers,
} from '@reeve/redis';
import { asReeveError, localExecutor, ReeveError } from '@reeve/runtime';
import type { Values } from '../args.ts';
import { cliError, usage } from '../errors.ts';
import type { Io } from '../io.ts';
import {
  type Annotation,
  annotationsOf,
  parseAnnotation,
  parseEndpoint,
  parseHostsFile,
  spreadKeys,
} from './address.ts';
import type { connectionOptions, placementOptions } from './options.ts';

export type SessionValues = Values<typeof connectionOptions & typeof placementOptions>;

export interface Session {
  readonly redis: RedisPort;
  readonly seeds: readonly Endpoint[];
  readonly annotations: (endpoint: Endpoint) => Readonly<Record<string, string>>;
  readonly spreadBy: readonly string[];
  /** `from`: other addresses to begin with than those given. */
  observe(options?: ObserveOptions, from?: readonly Endpoint[]): Promise<ClusterView>;
  environment(signal: AbortSignal, report: (event: RunEvent) => void, waitLimitMs: number | undefined): Environment;
  close(): Promise<void>;
}

export async function openSession(
  io: Io,
  values: SessionValues,
  given: readonly Endpoint[],
  signal: AbortSignal,
): Promise<Session> {
  const facts = await annotationsFrom(io, values);
  const annotations = annotationsOf(facts);
  const seeds = await Promise.all(given.map((endpoint) => resolveEndpoint(io, endpoint)));
  const redis = await connectAsked(io, await connectOptions(io, values, given), seeds, signal);
  return {
    redis,
    seeds,
    annotations,
    spreadBy: spreadKeys(values['spread-by'], facts),
    observe: (options = {}, from = seeds) => observeCluster(redis, io.ports, from, { annotations, ...options }),
    environment: (stop, report, waitLimitMs) => ({
      redis,
      ports: io.ports,
      executor: localExecutor(redisHandlers, redisContext(redis, io.ports)),
      seeds,
      annotations,
      signal: stop,
      report,
      ...(waitLimitMs === undefined ? {} : { waitLimitMs }),
    }),
    close: () => redis.close(),
  };
}

/** A view with nothing in it is no view: says why each address could not be read. */
export function mustSeeSomething(view: ClusterView): ClusterView {
  if (view.nodes.some((node) => node.report.known)) return view;
  const [first] = view.silent;
  const reasons = view.silent.map(({ endpoint, why }) =>
    why.includes(formatEndpoint(endpoint)) ? why : `${formatEndpoint(endpoint)}: ${why}`,
  );
  // One reason for all (a wrong password, no TLS) is the code itself; otherwise nothing could be read for several reasons.
  const same = first !== undefined && view.silent.every(({ code }) => code === first.code);
  const message = reasons.length > 0 ? reasons.join('; ') : 'no address answered';
  throw same ? new ReeveError(first.code, message) : cliError('NO_CLUSTER', message);
}

/** CLUSTER MEET takes IP addresses only, and nodes tell theirs as such: names are resolved once, here. */
export async function resolveEndpoint(io: Io, { host, port }: Endpoint): Promise<Endpoint> {
  const address = await io.resolve(host);
  if (address === undefined) throw cliError('ADDRESS_UNRESOLVED', `the name ${host} has no address`, [host]);
  return { host: address, port };
}

async function readText(io: Io, path: string, option: string): Promise<string> {
  let text: string | undefined;
  try {
    text = await io.ports.files.read(path);
  } catch (error) {
    throw cliError('FILE_UNREADABLE', `${option} ${path}: ${(error as Error).message}`, [path]);
  }
  if (text === undefined) throw cliError('FILE_UNREADABLE', `${option} ${path}: there is no such file`, [path]);
  return text;
}

async function annotationsFrom(io: Io, values: SessionValues): Promise<readonly Annotation[]> {
  const { hosts } = values;
  const fromFile = hosts === undefined ? [] : parseHostsFile(await readText(io, hosts, '--hosts'), hosts);
  const all = [...fromFile, ...values.annotate.map(parseAnnotation)];
  return Promise.all(
    all.map(async (annotation) => ({ ...annotation, address: await resolveAddress(io, annotation.address) })),
  );
}

/** `host` or `host:port`, the host as an IP. */
async function resolveAddress(io: Io, address: string): Promise<string> {
  if (/:\d+$/.test(address) && isIP(address) === 0)
    return formatEndpoint(await resolveEndpoint(io, parseEndpoint(address)));
  return (await resolveEndpoint(io, { host: address, port: 0 })).host;
}

export async function connectOptions(
  io: Io,
  values: Values<typeof connectionOptions>,
  given: readonly Endpoint[],
): Promise<ConnectOptions> {
  const { user, cacert, cert, key, insecure } = values;
  const passwordFile = values['password-file'];
  // Without its line end, which editors add and nobody means.
  const password =
    passwordFile === undefined ? undefined : (await readText(io, passwordFile, '--password-file')).split(/\r?\n/, 1)[0];
  if (password === '') throw usage(`--password-file ${passwordFile ?? ''}: the first line is empty`);
  const wantsTls =
    values.tls || insecure || [cacert, cert, key, values.servername].some((value) => value !== undefined);
  if ((cert === undefined) !== (key === undefined)) throw usage('--cert and --key belong together');
  const name = values.servername ?? given.find(({ host }) => /[a-z]/i.test(host) && !host.includes(':'))?.host;
  return {
    ...(user === undefined ? {} : { username: user }),
    ...(password === undefined ? {} : { password }),
    ...(wantsTls
      ? {
          tls: {
            ...(cacert === undefined ? {} : { ca: await readText(io, cacert, '--cacert') }),
            ...(cert === undefined ? {} : { cert: await readText(io, cert, '--cert') }),
            ...(key === undefined ? {} : { key: await readText(io, key, '--key') }),
            ...(name === undefined ? {} : { servername: name }),
            ...(insecure ? { insecure: true } : {}),
          },
        }
      : {}),
  };
}

/** Connects; where the server wants a password, none was given and somebody sits at the terminal, asks for it. */
async function connectAsked(
  io: Io,
  options: ConnectOptions,
  seeds: readonly Endpoint[],
  signal: AbortSignal,
): Promise<RedisPort> {
  const redis = io.connect(options);
  const [first] = seeds;
  if (options.password !== undefined || !io.inIsTerminal || !first) return redis;
  try {
    await redis.call(first, ['PING']);
    return redis;
  } catch (error) {
    // Anything else shows again, with its reason, when the cluster is observed.
    if (asReeveError(error).code !== 'REDIS_AUTH') return redis;
  }
  const who = options.username === undefined ? '' : ` of ${options.username}`;
  const password = await io.ask(`Password${who} for ${formatEndpoint(first)}: `, { secret: true, signal });
  if (!password) return redis;
  await redis.close();
  return io.connect({ ...options, password });
}
