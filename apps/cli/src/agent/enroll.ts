/** `reeve agent enroll`: an administrator makes, renews or takes away the identity of one agent on a bare host. */
import { resolve } from 'node:path';
import { connect, discover, isKubeError, type KubeClient, loadContext, type ResolvedContext } from '@reeve/kube';
import { formatEndpoint } from '@reeve/redis';
import { type Member, memberKind } from '@reeve/runtime';
import type { Values } from '../args.ts';
import { cliError, type ExitCode, exit, usage } from '../errors.ts';
import type { Io } from '../io.ts';
import { parseEndpoint } from '../redis/address.ts';
import { resolveEndpoint } from '../redis/session.ts';
import type { VerbLine } from '../redis/verb.ts';
import { accountOf, enrolledText, type Enrollment, memberManifest, type Named, rightsOf } from './enrollment.ts';
import { type ApiAddress, findIdentity, writeIdentity } from './identity.ts';
import { accounts, bindings, kubePorts, leases, members, roles } from './kube.ts';
import { revoke } from './revoke.ts';
import { requestToken } from './token.ts';
import type { EnrollSpecs } from './verbs.ts';

/** Names of accounts and leases are made from it. */
const NAME = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const FIELD_MANAGER = 'reeve-enroll';

/** What an administrator has: a way in, and the namespace that is meant. */
export interface Administration {
  readonly io: Io;
  readonly client: KubeClient;
  readonly context: ResolvedContext;
  readonly namespace: string;
  readonly member: string;
  readonly signal: AbortSignal;
}

export async function runEnroll({ words, values, io, signal }: VerbLine<EnrollSpecs>): Promise<ExitCode> {
  const member = nameFrom(words);
  if (values.renew && values.revoke) throw usage('--renew and --revoke exclude each other');
  if (!values.revoke && values.out === undefined) throw usage('where to? Give --out FOLDER');
  const ports = kubePorts(io);
  const load = {
    ...(values.kubeconfig !== undefined && { file: values.kubeconfig }),
    ...(values.namespace !== undefined && { namespace: values.namespace }),
  };
  const context = await loadContext(ports, load);
  using connection = await connect(ports, load);
  const { client, namespace } = connection;
  const administration: Administration = { io, client, context, namespace, member, signal };
  if (values.revoke) return await revoke(administration, { yes: values.yes, force: values.force });
  const folder = resolve(values.out ?? '');
  const before = await findIdentity(io.ports.files, folder);
  if (before && (before.member !== member || before.namespace !== namespace)) {
    const whose = `${before.namespace}/${before.member}`;
    throw cliError('AGENT_IDENTITY', `${folder} is the identity of ${whose}: give another folder`, [folder]);
  }
  // Awaited here: the connection is closed on the way out.
  return await (values.renew ? renew(administration, folder) : enroll(administration, values, folder));
}

function nameFrom(words: readonly string[]): string {
  const [name, ...more] = words;
  if (name === undefined) throw usage('which member? reeve agent enroll NAME');
  if (more.length > 0) throw usage(`one member at a time: what is '${more[0]}'?`);
  if (!NAME.test(name)) {
    throw usage(
      `'${name}' is no name of a member: letters a-z, digits and -, at most 63, a letter or digit at both ends`,
    );
  }
  return name;
}

async function enroll(administration: Administration, values: Values<EnrollSpecs>, folder: string): Promise<ExitCode> {
  const { io, client, namespace, member, signal } = administration;
  if (values.endpoint === undefined) throw usage('which server? Give --endpoint HOST:PORT');
  // Nodes tell each other addresses, and orders name them by these.
  const endpoint = await resolveEndpoint(io, parseEndpoint(values.endpoint));
  const enrollment: Enrollment = {
    namespace,
    member,
    endpoint,
    ...(values.cluster !== undefined && { cluster: values.cluster }),
  };
  const api = await apiAddress(administration, values.server);
  await mustBeFree(administration, enrollment);
  for (const manifest of [memberManifest(enrollment), ...rightsOf(enrollment, !values['no-renewal'])]) {
    await apply(administration, manifest);
  }
  const account = accountOf(member);
  const token = await requestToken(client.resource(accounts, namespace), account, signal);
  const { cluster } = enrollment;
  const enrolled = { namespace, member, account, endpoint: formatEndpoint(endpoint), ...(cluster && { cluster }) };
  await writeIdentity(io.ports.files, folder, enrolled, token, api);
  io.out(enrolledText(enrollment, folder));
  return exit.ok;
}

/** A new token for who is enrolled; nothing else is touched. */
async function renew({ io, client, namespace, member, signal }: Administration, folder: string): Promise<ExitCode> {
  const identity = await findIdentity(io.ports.files, folder);
  if (!identity) throw cliError('AGENT_IDENTITY', `${folder} holds no identity of an agent: enroll it first`, [folder]);
  let token: string;
  try {
    token = await requestToken(client.resource(accounts, namespace), identity.account, signal);
  } catch (error) {
    if (!isKubeError(error, 'KUBE_NOT_FOUND')) throw error;
    throw cliError('AGENT_IDENTITY', `${namespace}/${member} is not enrolled, or not any more`, [member]);
  }
  await io.ports.files.write(identity.tokenFile, `${token}\n`);
  io.out(`${identity.tokenFile} holds a new token\n`);
  return exit.ok;
}

/** Read live: a member that is a pod's, or another server's, is not taken over. */
async function mustBeFree(
  { client, signal }: Administration,
  { namespace, member, endpoint }: Enrollment,
): Promise<void> {
  const there = (await client.resource(members, namespace).find(member, { signal })) as Member | undefined;
  if (!there) return;
  const { spec } = there;
  const taken = (why: string) => cliError('MEMBER_TAKEN', `${namespace}/${member} ${why}`, [member]);
  if (spec.pod) throw taken(`is the member of pod ${spec.pod.name}`);
  if (spec.endpoint.host !== endpoint.host || spec.endpoint.port !== endpoint.port) {
    throw taken(`is enrolled for ${formatEndpoint(spec.endpoint)}: revoke it first`);
  }
}

async function apply({ client, namespace, signal }: Administration, manifest: Named): Promise<void> {
  const options = { fieldManager: FIELD_MANAGER, force: true, signal };
  switch (manifest.kind) {
    case 'Member':
      try {
        await client.resource(members, namespace).apply(manifest as never, options);
      } catch (error) {
        if (!isKubeError(error, 'KUBE_NOT_FOUND') || (await discover(client, memberKind, { signal }))) throw error;
        throw cliError('MEMBER_KIND_MISSING', 'the server does not serve the kind Member');
      }
      return;
    case 'Lease':
      await client.resource(leases, namespace).apply(manifest as never, options);
      return;
    default: {
      const kind = [accounts, roles, bindings].find((one) => one.kind === manifest.kind);
      if (!kind) throw new TypeError(`nobody enrolls with a ${manifest.kind}`);
      await client.resource(kind, namespace).apply(manifest, options);
    }
  }
}

async function apiAddress({ io, context }: Administration, server: string | undefined): Promise<ApiAddress> {
  const { cluster } = context;
  if (server !== undefined && !URL.canParse(server)) throw usage(`--server '${server}' is not a URL`);
  const { ca: source } = cluster;
  const ca = source && 'file' in source ? await io.ports.files.read(source.file) : source?.text;
  if (source && ca === undefined)
    throw cliError('FILE_UNREADABLE', 'the certificate authority of the kubeconfig is missing');
  const { tlsServerName, insecure } = cluster;
  return { server: server ?? cluster.server, ca, tlsServerName, insecure };
}
