import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { MIB } from '../schemas/limits.ts';
import { LINE_MAX, type Line } from './line.ts';

const NEWLINE = 0x0a;

/** Reads a file line by line, of whatever size, holding one line at a time. Throws what reading the file throws. */
export async function* linesOf(path: string, lineMax = LINE_MAX): AsyncGenerator<Line> {
  let number = 0;
  let parts: Buffer[] = [];
  let bytes = 0;
  const take = (): Line => {
    number += 1;
    const line = lineFrom(parts, number, bytes, lineMax);
    parts = [];
    bytes = 0;
    return line;
  };
  for await (const chunk of createReadStream(path, { highWaterMark: MIB }) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      parts.push(chunk.subarray(from, at));
      bytes += at + 1 - from;
      yield take();
      from = at + 1;
    }
    bytes += chunk.length - from;
    // A line that is too long is not kept.
    if (bytes > lineMax) parts = [];
    else if (from < chunk.length) parts.push(chunk.subarray(from));
  }
  if (bytes > 0) yield take();
}

function lineFrom(parts: Buffer[], number: number, bytes: number, lineMax: number): Line {
  if (bytes > lineMax) return { number, bytes, text: undefined, fault: 'is too long' };
  const line = parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
  if (!isUtf8(line)) return { number, bytes, text: undefined, fault: 'is not UTF-8' };
  const text = line.toString('utf8');
  const isFirst = number === 1;
  return { number, bytes, text: (isFirst ? text.replace(/^\uFEFF/, '') : text).replace(/\r$/, '') };
}
