/** Takes an identity away: shows what there is of it, then deletes exactly that. Done again it finds nothing, and says so. */
import { isKubeError } from '@reeve/kube';
import { type Member, type Order, type OrderResult } from '@reeve/runtime';
import { cliError, type ExitCode, exit } from '../errors.ts';
import type { Administration } from './enroll.ts';
import { type Part, partsOf } from './enrollment.ts';
import { accounts, bindings, leases, members, roles } from './kube.ts';

const kinds = { ServiceAccount: accounts, RoleBinding: bindings, Role: roles, Lease: leases, Member: members } as const;

interface Found extends Part {
  readonly uid: string;
}

export async function revoke(
  administration: Administration,
  { yes, force }: { readonly yes: boolean; readonly force: boolean },
): Promise<ExitCode> {
  const { io, namespace, member, signal } = administration;
  const found = await findParts(administration, force);
  if (found.length === 0) {
    io.out(`nothing is left of ${namespace}/${member}\n`);
    return exit.ok;
  }
  io.out(`to be deleted in ${namespace}:\n${found.map(({ kind, name }) => `  ${kind} ${name}\n`).join('')}`);
  if (!yes) {
    const answer = io.inIsTerminal ? await io.ask('Delete them? (yes) ', { secret: false, signal }) : undefined;
    if (answer?.trim() !== 'yes') throw cliError('NOT_APPROVED', `${namespace}/${member} is left as it is`);
  }
  for (const part of found) await remove(administration, part);
  io.out(`${namespace}/${member} is revoked\n`);
  return exit.ok;
}

async function findParts(
  { client, namespace, member, signal }: Administration,
  force: boolean,
): Promise<readonly Found[]> {
  const found: Found[] = [];
  for (const part of partsOf(member)) {
    const object = await client.resource(kinds[part.kind] as typeof accounts, namespace).find(part.name, { signal });
    if (!object) continue;
    if (part.kind === 'Member') mustBeIdle(object as unknown as Member, force);
    found.push({ ...part, uid: object.metadata.uid });
  }
  return found;
}

/** A pod's member is its operator's; and what an agent is at could not be asked any more when its member is gone. */
function mustBeIdle({ metadata, spec, status }: Member, force: boolean): void {
  if (spec.pod) throw cliError('MEMBER_TAKEN', `${metadata.name} is the member of pod ${spec.pod.name}`);
  const open = (spec.orders ?? []).filter((order) => !isEnded(order, status?.results ?? []));
  if (open.length === 0 || force) return;
  const verbs = open.map(({ verb }) => verb).join(', ');
  throw cliError('AGENT_BUSY', `${metadata.name} has open orders: ${verbs}`, [metadata.name]);
}

function isEnded({ id, attempt }: Order, results: readonly OrderResult[]): boolean {
  return results.some((result) => result.id === id && result.attempt >= attempt && result.phase !== 'Started');
}

/** What was found, and nothing that has its name since. */
async function remove({ io, client, namespace, signal }: Administration, { kind, name, uid }: Found): Promise<void> {
  try {
    await client.resource(kinds[kind] as typeof accounts, namespace).delete(name, { uid, signal });
    io.out(`  deleted ${kind} ${name}\n`);
  } catch (error) {
    if (isKubeError(error, 'KUBE_NOT_FOUND')) return;
    if (!isKubeError(error, 'KUBE_CONFLICT')) throw error;
    io.err(`  ${kind} ${name} is another one by now, and stays\n`);
  }
}
