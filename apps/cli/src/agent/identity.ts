/**
 * The folder that makes somebody the agent of one member: `member.json` says of which, `token` is the secret, `kubeconfig` leads to the
 * API. The kubeconfig is written last: a folder that has one has everything.
 */
import { join } from 'node:path';
import type { ClusterEntry } from '@reeve/kube';
import type { Files } from '@reeve/runtime';
import { cliError } from '../errors.ts';

const VERSION = 1;

export interface EnrolledMember {
  readonly namespace: string;
  readonly member: string;
  readonly account: string;
  /** `HOST:PORT`. */
  readonly endpoint: string;
  readonly cluster?: string;
}

export interface Identity extends EnrolledMember {
  readonly kubeconfig: string;
  readonly tokenFile: string;
}

/** How the host reaches the API. */
export interface ApiAddress extends Pick<ClusterEntry, 'server' | 'tlsServerName' | 'insecure'> {
  /** PEM. */
  readonly ca: string | undefined;
}

export function identityPaths(folder: string) {
  return {
    member: join(folder, 'member.json'),
    token: join(folder, 'token'),
    kubeconfig: join(folder, 'kubeconfig'),
  } as const;
}

/** Undefined: nothing of the kind was written there. */
export async function findIdentity(files: Pick<Files, 'read'>, folder: string): Promise<Identity | undefined> {
  const paths = identityPaths(folder);
  const text = await files.read(paths.member);
  if (text === undefined) return undefined;
  const wrong = (why: string) => cliError('AGENT_IDENTITY', `${paths.member} ${why}`, [folder]);
  let value: Partial<EnrolledMember> & { readonly version?: unknown };
  try {
    value = JSON.parse(text) as typeof value;
  } catch {
    throw wrong('is not JSON');
  }
  if (typeof value.version !== 'number') throw wrong('has no version');
  if (value.version > VERSION) throw wrong(`was written by a newer reeve (version ${value.version})`);
  const { namespace, member, account, endpoint, cluster } = value;
  for (const field of [namespace, member, account, endpoint]) {
    if (typeof field !== 'string' || field === '') throw wrong('lacks namespace, member, account or endpoint');
  }
  return {
    ...({ namespace, member, account, endpoint } as EnrolledMember),
    ...(typeof cluster === 'string' && { cluster }),
    kubeconfig: paths.kubeconfig,
    tokenFile: paths.token,
  };
}

/** An identity that can be used. */
export async function readIdentity(files: Pick<Files, 'read'>, folder: string): Promise<Identity> {
  const identity = await findIdentity(files, folder);
  if (!identity || (await files.read(identity.kubeconfig)) === undefined) {
    throw cliError('AGENT_IDENTITY', `${folder} holds no identity of an agent, or not all of it`, [folder]);
  }
  return identity;
}

export async function writeIdentity(
  files: Files,
  folder: string,
  member: EnrolledMember,
  token: string,
  api: ApiAddress,
): Promise<void> {
  const paths = identityPaths(folder);
  await files.write(paths.member, `${JSON.stringify({ version: VERSION, ...member }, undefined, 2)}\n`);
  await files.write(paths.token, `${token}\n`);
  await files.write(paths.kubeconfig, agentKubeconfig(member, api));
}

/** As kubectl reads it; JSON is YAML, too. The token is in a file beside it, which is replaced while the agent runs. */
export function agentKubeconfig({ namespace, account }: EnrolledMember, api: ApiAddress): string {
  const { server, ca, tlsServerName, insecure } = api;
  const cluster = {
    server,
    ...(ca !== undefined && { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
    ...(tlsServerName !== undefined && { 'tls-server-name': tlsServerName }),
    ...(insecure && { 'insecure-skip-tls-verify': true }),
  };
  const name = 'reeve';
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster }],
    users: [{ name: account, user: { tokenFile: 'token' } }],
    contexts: [{ name, context: { cluster: name, user: account, namespace } }],
    'current-context': name,
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}
