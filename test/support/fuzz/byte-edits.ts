import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';

export interface ByteEdit {
  kind: 'cut' | 'insert' | 'flip' | 'append' | 'utf16' | 'latin1' | 'empty' | 'twice';
  /** Position, modulo the body's length. */
  at: number;
  bytes: string;
}

/** Byte sequences that are invalid UTF-8 or mislead a careless reader. */
const BYTES = [
  '\xef\xbb\xbf',
  '\xff',
  '\xc0\x80',
  '\xed\xa0\x80',
  '\xf4\x90\x80\x80',
  '\xe2\x82',
  '\x00',
  '\xfe\xff',
  ' ',
  '\x0b',
  ',',
  '}',
  ']',
  '"',
  '\\',
  '//x\n',
  '\r\n\r\n',
  '[',
  '{}',
];

export const byteEdits: fc.Arbitrary<ByteEdit> = fc.record({
  kind: fc.constantFrom('cut', 'insert', 'insert', 'flip', 'append', 'utf16', 'latin1', 'empty', 'twice'),
  at: fc.oneof(fc.constant(0), fc.nat(5000)),
  bytes: fc.constantFrom(...BYTES),
});

export function applyByteEdit(body: Buffer, { kind, at, bytes }: ByteEdit): Buffer {
  const place = body.length === 0 ? 0 : at % body.length;
  const inserted = Buffer.from(bytes, 'latin1');
  switch (kind) {
    case 'cut':
      return body.subarray(0, place);
    case 'insert':
      return Buffer.concat([body.subarray(0, place), inserted, body.subarray(place)]);
    case 'flip': {
      const flipped = Buffer.from(body);
      if (flipped.length > 0) flipped.writeUInt8(flipped.readUInt8(place) ^ (1 << (at % 8)), place);
      return flipped;
    }
    case 'append':
      return Buffer.concat([body, inserted]);
    case 'utf16':
      return Buffer.from(body.toString(), 'utf16le');
    case 'latin1':
      return Buffer.from(body.toString(), 'latin1');
    case 'empty':
      return Buffer.alloc(0);
    case 'twice':
      return Buffer.concat([body, body]);
  }
}

/** Ways in which a body is packed; the header may say something else. */
export const PACKINGS = [
  'gzip',
  'gzip cut',
  'gzip damaged',
  'gzip twice',
  'gzip of two members',
  'gzip and more',
  'gzip of nothing',
  'bomb of zeros',
  'bomb of lists',
  'deflate',
  'br',
  'plain',
] as const;
export type Packing = (typeof PACKINGS)[number];

const KIB = 1024;
const BOMBS = {
  zeros: gzipSync(Buffer.alloc(17 * KIB * KIB)),
  lists: gzipSync(Buffer.alloc(200 * KIB, '[')),
};

export function packBody(body: Buffer, packing: Packing): Buffer {
  switch (packing) {
    case 'plain':
      return body;
    case 'gzip':
      return gzipSync(body);
    case 'gzip cut':
      return gzipSync(body).subarray(0, -5);
    case 'gzip damaged':
      return applyByteEdit(gzipSync(body), { kind: 'flip', at: 21, bytes: '' });
    case 'gzip twice':
      return gzipSync(gzipSync(body));
    case 'gzip of two members':
      return Buffer.concat([gzipSync(body.subarray(0, 9)), gzipSync(body.subarray(9))]);
    case 'gzip and more':
      return Buffer.concat([gzipSync(body), Buffer.from('more')]);
    case 'gzip of nothing':
      return gzipSync(Buffer.alloc(0));
    case 'bomb of zeros':
      return BOMBS.zeros;
    case 'bomb of lists':
      return BOMBS.lists;
    case 'deflate':
      return deflateSync(body);
    case 'br':
      return brotliCompressSync(body);
  }
}
