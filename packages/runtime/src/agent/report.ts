/** What an agent reports of its node: small, and written only when it changes. */
import { canonicalJson } from '../digest/digest.ts';
import { ReeveError } from '../errors/errors.ts';
import { type MemberStatus, MOST_DIGEST, MOST_REPORT_BYTES } from './member.ts';

/** What the agent saw. */
export interface NodeView {
  /** The node's own facts. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** Of its view of the others, if it has one. */
  readonly digest?: string;
}

export type Report = NonNullable<MemberStatus['report']>;

/** Throws if it is too large: a report that is cut short would look like a fact. */
export function reportOf({ facts, digest }: NodeView): Report {
  const report = { facts, ...(digest !== undefined && { digest }) };
  const bytes = Buffer.byteLength(canonicalJson(report));
  if (bytes > MOST_REPORT_BYTES) {
    throw new ReeveError('MEMBER_REPORT_SIZE', `a report of ${bytes} bytes; the most is ${MOST_REPORT_BYTES}`);
  }
  if (digest !== undefined && digest.length > MOST_DIGEST) {
    throw new ReeveError('MEMBER_REPORT_SIZE', `a digest of ${digest.length} characters; the most is ${MOST_DIGEST}`);
  }
  return report;
}

/** The node could not be read: what was known stays, marked as old. */
export function unreadable(before: Report | undefined, why: string): Report {
  return { ...before, unknown: why.slice(0, 512) };
}
