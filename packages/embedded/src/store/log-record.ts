/**
 * Records of the commit log: a batch as bytes, from the start of a page, so that no sector of a record that was acknowledged is ever
 * written again. A log is two files that take turns; each record says in which turn, and of which life of the store, it was written.
 *
 *     magic 4 | crc32 4 | length of the rest 4 | turn 4 | life 16 | line of JSON: rows without bodies, garbage, compacted | bodies
 */
import { crc32 } from 'node:zlib';
import type { Row } from './entry.ts';
import type { Batch } from './journal.ts';

export const PAGE = 4096;
const HEADER = 32;
/** Its first byte is in no text: what an object says cannot look like a record. */
const MAGIC = 0xff_52_65_76;

/** Which records belong together. */
export interface Mark {
  /** 16 bytes, new whenever a store begins to write. */
  readonly life: Uint8Array;
  /** Rises by one whenever the other file is written to. */
  readonly turn: number;
}

/** revision, resource, namespace, name, deleted (0 or 1), bytes of the body */
type RowHead = readonly [number, string, string, string, number, number];
type Head = readonly [rows: readonly RowHead[], garbage: readonly number[], compacted: number];

export interface LogRecord {
  readonly turn: number;
  readonly batch: Batch;
  /** With what fills its last page. */
  readonly size: number;
}

/** @param scratch is used if it is large enough; what comes back may be a part of it. */
export function encodeRecord({ rows, garbage, compacted }: Batch, { life, turn }: Mark, scratch: Buffer): Buffer {
  const heads: RowHead[] = [];
  let bodies = 0;
  for (const { revision, key, deleted, body } of rows) {
    const bytes = Buffer.byteLength(body);
    bodies += bytes;
    heads.push([revision, key.resource, key.namespace, key.name, deleted ? 1 : 0, bytes]);
  }
  const head = `${JSON.stringify([heads, garbage, compacted] satisfies Head)}\n`;
  const length = Buffer.byteLength(head) + bodies;
  const size = upTo(HEADER + length, PAGE);
  const record = size <= scratch.length ? scratch.subarray(0, size) : Buffer.allocUnsafe(size);
  record.writeUInt32BE(MAGIC, 0);
  record.writeUInt32BE(length, 8);
  record.writeUInt32BE(turn, 12);
  record.set(life, 16);
  let at = HEADER + record.write(head, HEADER);
  for (const { body } of rows) at += record.write(body, at);
  record.fill(0, at);
  record.writeUInt32BE(crc32(record.subarray(8, at)), 4);
  return record;
}

export const upTo = (size: number, unit: number): number => Math.ceil(size / unit) * unit;

/** Undefined: there is no whole record of this life. */
export function recordAt(bytes: Buffer, at: number, life: Uint8Array): LogRecord | undefined {
  if (at + HEADER > bytes.length || bytes.readUInt32BE(at) !== MAGIC) return undefined;
  const length = bytes.readUInt32BE(at + 8);
  const end = at + HEADER + length;
  if (end > bytes.length || !bytes.subarray(at + 16, at + HEADER).equals(life)) return undefined;
  if (crc32(bytes.subarray(at + 8, end)) !== bytes.readUInt32BE(at + 4)) return undefined;
  return {
    turn: bytes.readUInt32BE(at + 12),
    batch: batchOf(bytes.subarray(at + HEADER, end)),
    size: upTo(end - at, PAGE),
  };
}

function batchOf(bytes: Buffer): Batch {
  const line = bytes.indexOf('\n');
  const [heads, garbage, compacted] = JSON.parse(bytes.toString('utf8', 0, line)) as Head;
  let at = line + 1;
  const rows = heads.map(([revision, resource, namespace, name, deleted, length]): Row => {
    const body = bytes.toString('utf8', at, at + length);
    at += length;
    return { revision, key: { resource, namespace, name }, deleted: deleted === 1, body };
  });
  return { rows, garbage, compacted };
}

/** What was acknowledged is not there, or not in order: something else than a crash has been at these files. */
export class DamagedLog extends Error {}

/** All records of a part that was acknowledged: every byte of it must belong to one. */
export function batchesIn(bytes: Buffer, { life, turn }: Mark): readonly Batch[] {
  const batches: Batch[] = [];
  for (let at = 0; at < bytes.length; ) {
    const record = recordAt(bytes, at, life);
    if (record?.turn !== turn) throw new DamagedLog(`no record of turn ${turn} at byte ${at} of the log`);
    batches.push(record.batch);
    at += record.size;
  }
  return batches;
}

/**
 * What a crash has left to be done, in order. The last record may be half: it was not acknowledged. Records of an earlier turn that lie
 * behind those of the last one were folded into the database before they were written over.
 */
export function batchesLeft(files: readonly Buffer[], life: Uint8Array): readonly Batch[] {
  const parts = files.map((bytes) => partOf(bytes, life)).sort((a, b) => a.turn - b.turn);
  const newest = parts.at(-1)?.turn ?? 0;
  const stray = parts.find(({ behind }) => behind >= newest && behind > 0);
  if (stray) throw new DamagedLog(`a record of turn ${stray.behind} of the log follows one that cannot be read`);
  return parts.flatMap(({ batches }) => batches);
}

interface Part {
  /** Of the records at its beginning; 0: there are none. */
  readonly turn: number;
  readonly batches: readonly Batch[];
  /** The newest turn of what lies behind these; 0: nothing. */
  readonly behind: number;
}

function partOf(bytes: Buffer, life: Uint8Array): Part {
  const batches: Batch[] = [];
  let turn = 0;
  let at = 0;
  for (let record = recordAt(bytes, at, life); record; record = recordAt(bytes, at, life)) {
    turn ||= record.turn;
    if (record.turn !== turn) break;
    batches.push(record.batch);
    at += record.size;
  }
  let behind = 0;
  for (; at < bytes.length; at += PAGE) behind = Math.max(behind, recordAt(bytes, at, life)?.turn ?? 0);
  return { turn, batches, behind };
}

/** Each revision follows the one before; the first may be known already. */
export function refuseGaps(batches: readonly Batch[], last: number): void {
  let next: number | undefined;
  for (const { rows } of batches) {
    for (const { revision } of rows) {
      const isNext = next === undefined ? revision <= last + 1 : revision === next;
      if (!isNext) throw new DamagedLog(`revision ${next ?? last + 1} is missing before ${revision} in the log`);
      next = revision + 1;
    }
  }
}
