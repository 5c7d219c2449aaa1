import { createHash } from 'node:crypto';
import { AdminError } from '../admin-error.ts';

/**
 * A backup is a gzip of frames: a type, a length, and that many bytes. `M` is the manifest, `T` begins a table, `D` is
 * a piece of its rows in COPY format, and `E` ends the file with a checksum of everything before it.
 */
export interface Frame {
  type: 'M' | 'T' | 'D' | 'E';
  body: Buffer;
}

const HEADER_BYTES = 5;
const FRAME_BODY_BYTES_MAX = 1024 ** 2;

export async function* encodeFrames(frames: AsyncIterable<Frame>): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  for await (const { type, body } of frames)
    for (let at = 0; at < body.length; at += FRAME_BODY_BYTES_MAX) {
      const bytes = bytesOf(type, body.subarray(at, at + FRAME_BODY_BYTES_MAX));
      hash.update(bytes);
      yield bytes;
    }
  yield bytesOf('E', hash.digest());
}

function bytesOf(type: Frame['type'], body: Buffer): Buffer {
  const head = Buffer.alloc(HEADER_BYTES, type);
  head.writeUInt32BE(body.length, 1);
  return Buffer.concat([head, body]);
}

/** Throws if the bytes are damaged or cut short, at the latest after the last frame. */
export async function* decodeFrames(source: AsyncIterable<Buffer>): AsyncGenerator<Frame> {
  const hash = createHash('sha256');
  let isOver = false;
  for await (const bytes of splitFrames(source)) {
    const type = bytes.toString('latin1', 0, 1) as Frame['type'];
    const body = bytes.subarray(HEADER_BYTES);
    if (isOver) throw backupDamagedError('bytes after its end');
    isOver = type === 'E';
    if (isOver && !hash.digest().equals(body)) throw backupDamagedError('its checksum is wrong');
    if (isOver) continue;
    hash.update(bytes);
    yield { type, body };
  }
  if (!isOver) throw backupDamagedError('it is cut short');
}

async function* splitFrames(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of source) {
    rest = Buffer.concat([rest, chunk]);
    for (let end = firstFrameEnd(rest); end <= rest.length; end = firstFrameEnd(rest)) {
      yield rest.subarray(0, end);
      rest = rest.subarray(end);
    }
  }
  if (rest.length > 0) throw backupDamagedError('it is cut short');
}

function firstFrameEnd(bytes: Buffer): number {
  if (bytes.length < HEADER_BYTES) return Number.POSITIVE_INFINITY;
  const length = bytes.readUInt32BE(1);
  if (length > FRAME_BODY_BYTES_MAX) throw backupDamagedError('a length is impossible');
  return HEADER_BYTES + length;
}

export function backupDamagedError(how: string): AdminError {
  return new AdminError(`this is no backup, or a damaged one (${how}): take another copy of it`);
}
