/** Frames of WebSocket (RFC 6455), as a server reads and writes them. Pure: bytes in, frames out. */

export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export interface Frame {
  readonly opcode: number;
  readonly isFinal: boolean;
  readonly payload: Buffer;
}

/** The client broke the rules; the connection ends with this code. */
export class ProtocolError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export const CLOSE = { normal: 1000, goingAway: 1001, protocol: 1002, tooLarge: 1009, failed: 1011 } as const;

/** Larger than anything that a client has reason to send at once. */
const MOST_PAYLOAD = 1 << 20;
const MOST_CONTROL = 125;
const FINAL = 0x80;
const RESERVED = 0x70;
const MASKED = 0x80;

/** Takes what comes over a connection and gives back the frames that are whole by then. */
export class FrameReader {
  #waiting: Buffer = Buffer.alloc(0);

  push(chunk: Uint8Array): readonly Frame[] {
    this.#waiting = this.#waiting.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#waiting, chunk]);
    const frames: Frame[] = [];
    for (let next = this.#next(); next; next = this.#next()) frames.push(next);
    return frames;
  }

  #next(): Frame | undefined {
    const bytes = this.#waiting;
    if (bytes.length < 2) return undefined;
    const [first, second] = [bytes.readUInt8(0), bytes.readUInt8(1)];
    const opcode = first & 0x0f;
    const isFinal = (first & FINAL) !== 0;
    refuse(first, second, opcode, isFinal);
    const { length, at } = lengthOf(bytes, second & 0x7f);
    if (length === undefined) return undefined;
    if (length > MOST_PAYLOAD) throw new ProtocolError(CLOSE.tooLarge, `a frame of ${length} bytes is too large`);
    const start = at + 4;
    if (bytes.length < start + length) return undefined;
    const payload = unmasked(bytes.subarray(start, start + length), bytes.subarray(at, start));
    this.#waiting = bytes.subarray(start + length);
    return { opcode, isFinal, payload };
  }
}

function refuse(first: number, second: number, opcode: number, isFinal: boolean): void {
  if ((first & RESERVED) !== 0) throw new ProtocolError(CLOSE.protocol, 'no extension was agreed on');
  if ((second & MASKED) === 0) throw new ProtocolError(CLOSE.protocol, 'clients must mask what they send');
  if (!(Object.values(OPCODE) as readonly number[]).includes(opcode)) {
    throw new ProtocolError(CLOSE.protocol, `there is no opcode ${opcode}`);
  }
  if (opcode >= OPCODE.close && (!isFinal || (second & 0x7f) > MOST_CONTROL)) {
    throw new ProtocolError(CLOSE.protocol, 'a control frame is one small frame');
  }
}

/** Undefined: more bytes are needed to know. `at`: where the mask begins. */
function lengthOf(bytes: Buffer, short: number): { readonly length: number | undefined; readonly at: number } {
  if (short < 126) return { length: short, at: 2 };
  if (short === 126) return { length: bytes.length < 4 ? undefined : bytes.readUInt16BE(2), at: 4 };
  return { length: bytes.length < 10 ? undefined : Number(bytes.readBigUInt64BE(2)), at: 10 };
}

function unmasked(payload: Buffer, mask: Buffer): Buffer {
  const plain = Buffer.allocUnsafe(payload.length);
  for (let at = 0; at < payload.length; at++) plain[at] = (payload[at] as number) ^ (mask[at & 3] as number);
  return plain;
}

/** A whole frame of a server: not masked, never in parts. */
export function frameOf(opcode: number, payload: Uint8Array): Buffer {
  const { length } = payload;
  const size = length < 126 ? 2 : length < 1 << 16 ? 4 : 10;
  const frame = Buffer.allocUnsafe(size + length);
  frame.writeUInt8(FINAL | opcode, 0);
  if (size === 2) frame.writeUInt8(length, 1);
  else if (size === 4) {
    frame.writeUInt8(126, 1);
    frame.writeUInt16BE(length, 2);
  } else {
    frame.writeUInt8(127, 1);
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  frame.set(payload, size);
  return frame;
}

export function closePayload(code: number, reason: string): Buffer {
  const text = Buffer.from(reason).subarray(0, MOST_CONTROL - 2);
  const payload = Buffer.alloc(2 + text.length);
  payload.writeUInt16BE(code, 0);
  payload.set(text, 2);
  return payload;
}
