import { MIB } from '../schemas/limits.ts';

/** `fault` is the reason why the line cannot be read. */
export type Line = { number: number; bytes: number } & (
  | { text: string }
  | { text: undefined; fault: string }
);

/** Longer lines contain images, not words. */
export const LINE_BYTES_MAX = 64 * MIB;

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPENING = [0x5b, 0x7b];
const CLOSING = [0x5d, 0x7d];
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
/** JSON's white space. */
const BLANK = [0x20, 0x09, 0x0d, NEWLINE];

/**
 * Splits a file into its records: the elements of a JSON array, in whatever way it is indented, or else the lines. Keeps
 * one record in memory at a time.
 */
export class RecordSplitter {
  #mode: 'lines' | 'array' | undefined;
  /** Number of the current line. */
  #line = 1;
  #parts: Uint8Array[] = [];
  #bytes = 0;
  /** How deep in the array the next byte is: 0 outside of it. */
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #isInElement = false;

  *push(chunk: Uint8Array): Generator<Line> {
    let from = 0;
    if (this.#mode === undefined) {
      const start = chunk.findIndex((byte) => !BLANK.includes(byte) && !BYTE_ORDER_MARK.includes(byte));
      if (start >= 0) this.#mode = chunk[start] === OPENING[0] ? 'array' : 'lines';
      if (this.#mode === 'array') from = start;
    }
    yield* this.#mode === 'array' ? this.#elementsIn(chunk, from) : this.#linesIn(chunk);
  }

  /** Returns the last record, if no line end or bracket closes it. */
  *end(): Generator<Line> {
    if (this.#bytes > 0) yield this.#take();
  }

  *#linesIn(chunk: Uint8Array): Generator<Line> {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      this.#keep(chunk.subarray(from, at));
      this.#bytes += 1;
      yield this.#take();
      this.#line += 1;
      from = at + 1;
    }
    this.#keep(chunk.subarray(from));
  }

  *#elementsIn(chunk: Uint8Array, start: number): Generator<Line> {
    let from = start;
    for (let at = start; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0;
      if (byte === NEWLINE) this.#line += 1;
      if (this.#depth === 1 && !this.#isInElement && !BLANK.includes(byte) && byte !== COMMA) {
        this.#isInElement = !CLOSING.includes(byte);
        from = at;
      }
      if (this.#endsElement(byte)) {
        this.#keep(chunk.subarray(from, at));
        this.#isInElement = false;
        yield this.#take();
      }
    }
    if (this.#isInElement) this.#keep(chunk.subarray(from));
  }

  /** Follows strings and brackets. Returns true if the byte comes after an element: a comma, or the array's end. */
  #endsElement(byte: number): boolean {
    if (this.#isInString) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === BACKSLASH) this.#isEscaped = true;
      else if (byte === QUOTE) this.#isInString = false;
      return false;
    }
    if (byte === QUOTE) this.#isInString = true;
    else if (OPENING.includes(byte)) this.#depth += 1;
    else if (CLOSING.includes(byte)) this.#depth -= 1;
    const isBetween = this.#depth === 0 || (this.#depth === 1 && byte === COMMA);
    return this.#isInElement && isBetween;
  }

  #keep(part: Uint8Array): void {
    this.#bytes += part.length;
    // A record that is too long is not kept in memory.
    if (this.#bytes > LINE_BYTES_MAX) this.#parts = [];
    else if (part.length > 0) this.#parts.push(part);
  }

  #take(): Line {
    const line = lineFrom(this.#parts, this.#line, this.#bytes);
    this.#parts = [];
    this.#bytes = 0;
    return line;
  }
}

function lineFrom(parts: Uint8Array[], number: number, bytes: number): Line {
  if (bytes > LINE_BYTES_MAX) return { number, bytes, text: undefined, fault: 'is too long' };
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: number > 1 });
  try {
    const text = parts.map((part) => decoder.decode(part, { stream: true })).join('') + decoder.decode();
    return { number, bytes, text: text.replace(/\r$/, '') };
  } catch {
    return { number, bytes, text: undefined, fault: 'is not UTF-8' };
  }
}
