/** HTTP/2 for many watches: few sessions, many streams. A new session when one is full, old or told to go away. */
import type { TlsMaterial } from '../auth/access.ts';
import { KubeError } from '../errors/errors.ts';
import type { Clock } from '../ports/ports.ts';
import { unlessAborted } from './abort.ts';
import { openSession, type Session } from './http2-session.ts';
import type { TransportRequest, TransportResponse } from './transport.ts';
import type { Wire } from './wire.ts';

export interface Http2Options {
  readonly clock: Clock;
  /** Streams in one session. Default 90: kube-apiserver allows 100, and the next stream would hang, not fail. */
  readonly maxStreams?: number;
  /** After this age a session takes no new streams. Default one hour: whatever a session collects goes with it. */
  readonly maxAgeMs?: number;
  /** How long it may take to connect, with TLS. Default 30 s: others wait for it, too. */
  readonly openWithinMs?: number;
  /** How long the server's first frame may take then. Default 5 s: it is sent without having been asked for. */
  readonly settingsWithinMs?: number;
  /** Silence after which a PING is sent. Default 30 s, as client-go. */
  readonly pingAfterMs?: number;
  /** How long the answer to a PING may take. Default 15 s, as client-go. */
  readonly pongWithinMs?: number;
  /** How much may be under way to us in a session. Default 16 MB: with Node's 64 KB one slow reader stops all others. */
  readonly windowBytes?: number;
}

export function http2Wire(server: URL, options: Http2Options): Wire {
  return new Http2Wire(server, options);
}

class Http2Wire implements Wire {
  readonly #server: URL;
  readonly #options: Required<Http2Options>;
  readonly #sessions = new Set<Session>();
  /** The session that is being opened, for all who came meanwhile. */
  #opening: { readonly tls: TlsMaterial; readonly session: Promise<Session> } | undefined;
  #closed = false;

  constructor(server: URL, options: Http2Options) {
    this.#server = server;
    this.#options = {
      maxStreams: 90,
      maxAgeMs: 3_600_000,
      openWithinMs: 30_000,
      settingsWithinMs: 5_000,
      pingAfterMs: 30_000,
      pongWithinMs: 15_000,
      windowBytes: 16 * 1024 * 1024,
      ...options,
    };
  }

  async send(request: TransportRequest, tls: TlsMaterial): Promise<TransportResponse> {
    for (;;) {
      request.signal?.throwIfAborted();
      if (this.#closed)
        throw new KubeError('KUBE_UNREACHABLE', 'the client was closed', { subjects: [this.#server.host] });
      const session = this.#usable(tls) ?? (await unlessAborted(this.#open(tls), request.signal));
      // Others that waited for the same new session may have filled it.
      if (session.canTake(this.#options.maxStreams)) return session.send(request);
    }
  }

  close(): void {
    this.#closed = true;
    for (const session of this.#sessions) session.close();
  }

  #usable(tls: TlsMaterial): Session | undefined {
    const oldest = this.#options.clock.now() - this.#options.maxAgeMs;
    for (const session of this.#sessions) {
      if (session.tls !== tls || session.openedAt < oldest) session.retire();
      else if (session.canTake(this.#options.maxStreams)) return session;
    }
    return undefined;
  }

  #open(tls: TlsMaterial): Promise<Session> {
    if (this.#opening?.tls === tls) return this.#opening.session;
    const session = openSession(this.#server, tls, this.#options, (ended) => this.#sessions.delete(ended)).then(
      (opened) => {
        this.#sessions.add(opened);
        if (this.#closed) opened.close();
        return opened;
      },
    );
    const opening = { tls, session };
    this.#opening = opening;
    const forget = () => {
      if (this.#opening === opening) this.#opening = undefined;
    };
    session.then(forget, forget);
    return session;
  }
}
