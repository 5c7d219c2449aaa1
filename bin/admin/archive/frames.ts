import { createHash } from 'node:crypto';
import { AdminError } from '../admin-error.ts';

/**
 * A backup is a gzip of frames: a type, a length, and that many bytes. `M` is the manifest, `T` begins a table, `D` is a piece of its rows
 * as COPY writes them, and `E` ends the file with a checksum of all before it.
 */
export interface Frame {
  type: 'M' | 'T' | 'D' | 'E';
  body: Buffer;
}

const HEAD = 5;
const LONGEST = 1024 ** 2;

/** Writes frames as bytes, rows in pieces, and the last frame with the checksum. */
export async function* packed(frames: AsyncIterable<Frame>): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  for await (const { type, body } of frames)
    for (let at = 0; at < body.length; at += LONGEST) {
      const bytes = bytesOf(type, body.subarray(at, at + LONGEST));
      hash.update(bytes);
      yield bytes;
    }
  yield bytesOf('E', hash.digest());
}

function bytesOf(type: Frame['type'], body: Buffer): Buffer {
  const head = Buffer.alloc(HEAD, type);
  head.writeUInt32BE(body.length, 1);
  return Buffer.concat([head, body]);
}

/** Reads frames from bytes. Throws when they are damaged or cut short, at the end at the latest. */
export async function* unpacked(source: AsyncIterable<Buffer>): AsyncGenerator<Frame> {
  const hash = createHash('sha256');
  let isOver = false;
  for await (const bytes of slices(source)) {
    const type = bytes.toString('latin1', 0, 1) as Frame['type'];
    const body = bytes.subarray(HEAD);
    if (isOver) throw damaged('bytes after its end');
    isOver = type === 'E';
    if (isOver && !hash.digest().equals(body)) throw damaged('its checksum is wrong');
    if (isOver) continue;
    hash.update(bytes);
    yield { type, body };
  }
  if (!isOver) throw damaged('it is cut short');
}

/** The bytes of each frame. */
async function* slices(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of source) {
    rest = Buffer.concat([rest, chunk]);
    for (let end = endOf(rest); end <= rest.length; end = endOf(rest)) {
      yield rest.subarray(0, end);
      rest = rest.subarray(end);
    }
  }
  if (rest.length > 0) throw damaged('it is cut short');
}

function endOf(bytes: Buffer): number {
  if (bytes.length < HEAD) return Number.POSITIVE_INFINITY;
  const length = bytes.readUInt32BE(1);
  if (length > LONGEST) throw damaged('a length is impossible');
  return HEAD + length;
}

export function damaged(how: string): AdminError {
  return new AdminError(`this is no backup, or a damaged one (${how}): take another copy of it`);
}
