/** The port to certificates: made, read, and seen at a server. PEM texts throughout. */
import type { Endpoint } from './view.ts';

/** In milliseconds since the epoch. */
export interface Life {
  readonly from: number;
  readonly until: number;
}

export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

export interface CertificateFacts extends Life {
  /** Of SHA-256. */
  readonly fingerprint: string;
  /** For which it stands. */
  readonly names: readonly string[];
}

/** A certificate with those that lead to its authority, its key, and the authorities that are trusted. */
export interface TlsParts {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

/** How a TLS server is called on: whom to trust, who we are, and the name that its certificate must carry. */
export interface TlsAccess extends TlsParts {
  readonly servername: string;
}

/** Why two would not believe each other, in the words of OpenSSL and Node (`INVALID_PURPOSE`). Nothing: they would. */
export interface Doubts {
  /** Of the client about the server. */
  readonly ofClient?: string;
  /** Of the server about the client. */
  readonly ofServer?: string;
  /** There was not even a handshake: what one of them has cannot be used at all. */
  readonly broken?: string;
}

export interface Certificates {
  authority(life: Life): Promise<KeyPair>;
  /** For a server that is also a client of others of its kind. */
  peer(authority: KeyPair, names: readonly string[], life: Life): Promise<KeyPair>;
  /** Of the first certificate in a text; undefined: there is none that can be read. */
  read(text: string): CertificateFacts | undefined;
  /** Whether the first certificate of a text was signed by one of the authorities of another, directly or by others of its own text. */
  isTrusted(chain: string, authorities: string): boolean;
  /** Whether a key is that of the first certificate in a text. */
  fits(certificate: string, key: string): boolean;
  /**
   * Whether a server and a client that have these would believe each other, by the rules and the clock that count when they meet. A client
   * that asks for no name believes whoever an authority of its own has signed.
   */
  rehearse(server: TlsParts, client: TlsParts, servername?: string): Promise<Doubts>;
  /** The fingerprint of what a server shows now; undefined: it shows nothing. */
  presentedAt(endpoint: Endpoint, access: TlsAccess): Promise<string | undefined>;
}
