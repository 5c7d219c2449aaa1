import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';

const EDITS = {
  cut: (body, at) => body.subarray(0, at),
  insert: (body, at, bytes) => Buffer.concat([body.subarray(0, at), bytes, body.subarray(at)]),
  flip(body, at, _, bit) {
    const flipped = Buffer.from(body);
    if (flipped.length > 0) flipped.writeUInt8(flipped.readUInt8(at) ^ (1 << bit), at);
    return flipped;
  },
  append: (body, _, bytes) => Buffer.concat([body, bytes]),
  utf16: (body) => Buffer.from(body.toString(), 'utf16le'),
  latin1: (body) => Buffer.from(body.toString(), 'latin1'),
  empty: () => Buffer.alloc(0),
  twice: (body) => Buffer.concat([body, body]),
} satisfies Record<string, (body: Buffer, at: number, bytes: Buffer, bit: number) => Buffer>;

export interface ByteEdit {
  kind: keyof typeof EDITS;
  /** Position, modulo the body's length. */
  at: number;
  bytes: string;
}

/** Byte sequences that are invalid UTF-8 or mislead a careless reader. */
const BYTES = [
  ...'\xef\xbb\xbf \xff \xc0\x80 \xed\xa0\x80 \xf4\x90\x80\x80 \xe2\x82 \x00 \xfe\xff'.split(' '),
  ...[' ', '\x0b', ',', '}', ']', '"', '\\', '//x\n', '\r\n\r\n', '[', '{}'],
];

export const byteEdits: fc.Arbitrary<ByteEdit> = fc.record({
  kind: fc.constantFrom('cut', 'insert', 'insert', 'flip', 'append', 'utf16', 'latin1', 'empty', 'twice'),
  at: fc.oneof(fc.constant(0), fc.nat(5000)),
  bytes: fc.constantFrom(...BYTES),
});

export function applyByteEdit(body: Buffer, { kind, at, bytes }: ByteEdit): Buffer {
  const place = body.length === 0 ? 0 : at % body.length;
  return EDITS[kind](body, place, Buffer.from(bytes, 'latin1'), at % 8);
}

const KIB = 1024;
const ZEROS = gzipSync(Buffer.alloc(17 * KIB * KIB));
const LISTS = gzipSync(Buffer.alloc(200 * KIB, '['));

/** Ways in which a body is packed; the header may say something else. */
export const PACKINGS = {
  gzip: (body) => gzipSync(body),
  'gzip cut': (body) => gzipSync(body).subarray(0, -5),
  'gzip damaged': (body) => applyByteEdit(gzipSync(body), { kind: 'flip', at: 21, bytes: '' }),
  'gzip twice': (body) => gzipSync(gzipSync(body)),
  'gzip of two members': (body) => Buffer.concat([gzipSync(body.subarray(0, 9)), gzipSync(body.subarray(9))]),
  'gzip and more': (body) => Buffer.concat([gzipSync(body), Buffer.from('more')]),
  'gzip of nothing': () => gzipSync(Buffer.alloc(0)),
  'bomb of zeros': () => ZEROS,
  'bomb of lists': () => LISTS,
  deflate: (body) => deflateSync(body),
  br: (body) => brotliCompressSync(body),
  plain: (body) => body,
} satisfies Record<string, (body: Buffer) => Buffer>;
export type Packing = keyof typeof PACKINGS;
