/**
 * How several streams share one WebSocket: the first byte of a message is the number of its channel. `v5` can also say that a channel
 * is done, which `v4` cannot. Pure.
 */
export const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const;

/** What is served, the better one first. */
export const PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io'] as const;
export type ChannelProtocol = (typeof PROTOCOLS)[number];

const CLOSED = 255;

export function message(channel: number, data: Uint8Array): Buffer {
  const whole = Buffer.allocUnsafe(data.length + 1);
  whole.writeUInt8(channel, 0);
  whole.set(data, 1);
  return whole;
}

export type ClientMessage =
  | { readonly type: 'input'; readonly data: Buffer }
  /** There is no more of it. */
  | { readonly type: 'end-of-input' }
  /** The size of a terminal, empty, or for a channel that a client has no business on. */
  | { readonly type: 'nothing' };

export function readMessage(protocol: ChannelProtocol, bytes: Buffer): ClientMessage {
  const channel = bytes[0];
  if (protocol === 'v5.channel.k8s.io' && channel === CLOSED) {
    return bytes[1] === CHANNEL.stdin ? { type: 'end-of-input' } : { type: 'nothing' };
  }
  if (channel !== CHANNEL.stdin || bytes.length === 1) return { type: 'nothing' };
  return { type: 'input', data: bytes.subarray(1) };
}

/** The first that the client likes and we know. */
export function chooseProtocol(offered: readonly string[]): ChannelProtocol | undefined {
  return offered.find((one): one is ChannelProtocol => (PROTOCOLS as readonly string[]).includes(one));
}
