/** Tokens of an agent's account: asked for, and renewed by the agent itself when half of their time is over. */
import { isKubeError, type ResourceClient, type KubeObject } from '@reeve/kube';
import type { Clock, Files, Random } from '@reeve/runtime';

export const TOKEN_SECONDS = 86_400;

export type Accounts = Pick<ResourceClient<KubeObject>, 'post'>;

/** Bound to the account: when that is deleted, the token is nobody's, also if another account of the name is made. */
export async function requestToken(accounts: Accounts, account: string, signal?: AbortSignal): Promise<string> {
  const request = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: TOKEN_SECONDS },
  };
  const answer = await accounts.post<{ readonly status: { readonly token: string } }>(
    account,
    'token',
    request,
    signal ? { signal } : {},
  );
  return answer.status.token;
}

/**
 * How long a token lasts from its issue, in milliseconds, as it says itself: a server may give less than was asked for. No clock is read:
 * those of the server and of this machine need not agree.
 */
export function lifetimeMs(token: string): number {
  try {
    const [, payload = ''] = token.split('.');
    const { exp, iat } = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as Record<string, unknown>;
    if (typeof exp === 'number' && typeof iat === 'number' && exp > iat) return (exp - iat) * 1_000;
  } catch {
    // It is the server's matter what a token looks like.
  }
  return TOKEN_SECONDS * 1_000;
}

export interface Renewal {
  readonly accounts: Accounts;
  readonly account: string;
  readonly tokenFile: string;
  /** Told of what went wrong and is tried again. */
  failed(message: string): void;
}

const MINUTE_MS = 60_000;
/** Rights may be given meanwhile, or another token put into the file. */
const DENIED_MS = 60 * MINUTE_MS;

/**
 * Renews at the start, because how old the token is cannot be told without comparing clocks, and then whenever half of the time is over,
 * until the signal aborts.
 */
export async function keepTokenFresh(
  { clock, random, files }: { readonly clock: Clock; readonly random: Random; readonly files: Files },
  { accounts, account, tokenFile, failed }: Renewal,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    let pauseMs = MINUTE_MS;
    try {
      const token = await requestToken(accounts, account, signal);
      await files.write(tokenFile, `${token}\n`);
      pauseMs = lifetimeMs(token) / 2;
    } catch (error) {
      if (signal.aborted) return;
      const mayNot = isKubeError(error, 'KUBE_FORBIDDEN');
      if (mayNot) pauseMs = DENIED_MS;
      const remedy = mayNot ? ': run `reeve agent enroll --renew` before it expires' : '';
      failed(`the token could not be renewed${remedy}: ${error instanceof Error ? error.message : String(error)}`);
    }
    await clock.sleep(pauseMs * (0.9 + 0.2 * random.next()), signal).catch(() => undefined);
  }
}
