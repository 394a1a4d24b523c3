/** Where the content of volumes and environments comes from: objects of the pod's namespace. */
import type { Volume, VolumeClaim } from '../kinds/volumeclaim.ts';

/** Values as they are written to files. */
export type Content = Readonly<Record<string, Uint8Array>>;

export type Texts = Readonly<Record<string, string>>;

export interface TokenRequest {
  readonly account: string;
  readonly audience: string | undefined;
  readonly expirationSeconds: number;
}

export interface Token {
  readonly token: string;
  /** When it is no longer good. */
  readonly expiresAt: number;
  /** When to ask for another one: with a fifth of its life left, so that a server that is away for a while does no harm. */
  readonly renewAt: number;
}

/** All of one namespace. Null: there is none of that name, which was asked for live. */
export interface Sources {
  /** All of it, as files. */
  configMap(name: string): Promise<Content | null>;
  /** What of it may be variables: as with a kubelet its texts, and none of its `binaryData`. */
  configMapTexts(name: string): Promise<Texts | null>;
  secret(name: string): Promise<Content | null>;
  claim(name: string): Promise<(VolumeClaim & { readonly metadata: { readonly uid: string } }) | null>;
  volume(name: string): Promise<Volume | null>;
  /** Bound to the pod. Null: there is no such account. */
  token(request: TokenRequest): Promise<Token | null>;
}

/** A volume cannot be had yet; the message is that of the event `FailedMount`. */
export class VolumeProblem extends Error {
  constructor(volume: string, why: string) {
    super(`MountVolume.SetUp failed for volume "${volume}" : ${why}`);
  }
}

/** The one reason of a volume that need not keep a pod from running. */
export class NoAccount extends VolumeProblem {}

export function textOf(content: Content | null): Texts | null {
  if (!content) return null;
  return Object.fromEntries(
    Object.entries(content).map(([name, bytes]) => [name, Buffer.from(bytes).toString('utf8')]),
  );
}
