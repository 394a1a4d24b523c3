/** What a server with `AccessControl` serves besides the kinds that it stores. docs/served.md is made from it. */
import type { Kind } from '../kinds/kind.ts';
import { impersonationHeaders, impersonationModes } from './impersonation.ts';
import { reviewKinds } from './reviews.ts';
import { tokenRequests } from './token-request.ts';

export interface AccessServed {
  readonly reviews: readonly Kind[];
  /** The subresource at which tokens are asked for. */
  readonly tokens: { readonly resource: string; readonly subresource: string };
  /** Headers, and ways of being allowed to, narrow ones first. `extra` is the beginning of a header. */
  readonly impersonation: {
    readonly headers: Readonly<Record<'user' | 'uid' | 'group' | 'extra', string>>;
    readonly modes: readonly string[];
  };
}

export const accessServed: AccessServed = {
  reviews: reviewKinds,
  tokens: tokenRequests,
  impersonation: { headers: impersonationHeaders, modes: impersonationModes },
};
