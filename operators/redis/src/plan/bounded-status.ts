/**
 * A status that stays within what an object may hold, whatever its thousand nodes are called and however their slots lie. What is left out
 * first is what a look at the cluster tells as well: which slots, then who answers. Who is silent stays: nobody else knows where it lived. Pure.
 */
import type { MemberStatus, RedisClusterStatus } from '../api/cluster.ts';
import { countSlots, parseSlots } from '../api/slots.ts';

/** Of the 256 KB of an object. The rest is for the spec, and for the record of who owns which field, which lists large goals by name. */
export const MOST_STATUS_BYTES = 200_000;
/** So many fit in any case. */
const FEW = 100;

export function boundedStatus(status: RedisClusterStatus, most = MOST_STATUS_BYTES): RedisClusterStatus {
  if (fits(status, most)) return status;
  const forms = formsOf(status.members ?? []).map((members) => ({ ...status, members }));
  return forms.find((form) => fits(form, most)) ?? forms.at(-1) ?? status;
}

/** Members as they may be told, the longest first: whoever compares what was told with what is known now must know all of them. */
export function formsOf(members: readonly MemberStatus[]): readonly (readonly MemberStatus[])[] {
  if (members.length < FEW) return [members];
  const shorter = members.map(withoutRanges);
  return [members, shorter, shorter.filter(({ silent }) => silent)];
}

function fits(status: RedisClusterStatus, most: number): boolean {
  return Buffer.byteLength(JSON.stringify(status)) <= most;
}

/** One range says where; of several their number will do. */
function withoutRanges(member: MemberStatus): MemberStatus {
  const slots = member.slots?.includes(',') ? parseSlots(member.slots) : undefined;
  return slots ? { ...member, slots: `${countSlots(slots)} slots in ${slots.length} ranges` } : member;
}
