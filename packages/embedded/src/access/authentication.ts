/** Who asks: tokens given out by hand, tokens of service accounts, client certificates, or nobody. */
import type { Clock } from '@reeve/kube';
import type { Store } from '../store/store.ts';
import type { ClientCertificate, Credentials, User } from './access.ts';
import { type Known, knowToken, type TokenIssuer } from './bound-token.ts';
import { ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED } from './groups.ts';
import { MOST_TOKEN } from './jwt.ts';

export interface AuthenticationOptions {
  readonly store: Pick<Store, 'get'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly tokens: TokenIssuer;
  /** Tokens given out by hand. */
  readonly staticToken: (token: string) => User | undefined;
  /** Requests without any credentials are those of `system:anonymous`. Default: they are refused. */
  readonly anonymous?: boolean;
}

const INVALID: Known = { type: 'refused', why: 'invalid bearer token' };

export class Authentication {
  readonly #options: AuthenticationOptions;
  /** The same certificate is the same user, for whoever remembers what he may. */
  readonly #users = new WeakMap<ClientCertificate, User>();

  constructor(options: AuthenticationOptions) {
    this.#options = options;
  }

  readonly authenticate = ({ header, certificate }: Credentials): User | undefined => {
    if (certificate !== undefined && certificate.commonName !== '') {
      return this.#userOf(certificate);
    }
    const given = header('authorization');
    if (given === undefined || given === '') return this.#options.anonymous === true ? anonymous : undefined;
    // A wrong token is refused, never taken for none.
    const known = this.token(bearerOf(given), this.#options.tokens.audiences);
    return known.type === 'user' ? known.user : undefined;
  };

  #userOf(certificate: ClientCertificate): User {
    const known = this.#users.get(certificate);
    if (known !== undefined) return known;
    const user = authenticated({ name: certificate.commonName, groups: certificate.organizations });
    this.#users.set(certificate, user);
    return user;
  }

  /** @param wanted audiences of which a token must have one. Tokens given out by hand are for this server. */
  token(token: string, wanted: readonly string[]): Known {
    if (token === '' || token.length > MOST_TOKEN) return INVALID;
    const { tokens, store, clock, staticToken } = this.#options;
    const user = staticToken(token);
    const audiences = tokens.audiences.filter((one) => wanted.includes(one));
    if (user !== undefined)
      return audiences.length > 0 ? { type: 'user', user: authenticated(user), audiences } : INVALID;
    const known = knowToken(tokens, store, token, clock.now() / 1000, wanted);
    if (known.type === 'user') return { ...known, user: authenticated(known.user) };
    return known.type === 'foreign' ? INVALID : known;
  }
}

const anonymous: User = { name: ANONYMOUS, groups: [UNAUTHENTICATED] };

function authenticated(user: User): User {
  if (user.groups.includes(AUTHENTICATED) || user.groups.includes(UNAUTHENTICATED)) return user;
  return { ...user, groups: [...user.groups, AUTHENTICATED] };
}

function bearerOf(header: string): string {
  return /^\s*bearer +(\S+)\s*$/i.exec(header.slice(0, 2 * MOST_TOKEN))?.[1] ?? '';
}
