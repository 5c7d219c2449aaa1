import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { MIB } from '../schemas/limits.ts';
import type { ImportedEvent } from './conversation.ts';
import { FORMATS } from './formats.ts';
import { Recorder, type StoreBatch } from './recorder.ts';
import type { FileReport } from './report.ts';
import { LINE_BYTES_MAX, type Line, Transcript } from './transcript.ts';

interface ReadOptions {
  /** Reading stops after the current line when this signal aborts. */
  signal: AbortSignal;
  /** Called with the size of each line. */
  progress?(bytes: number): void;
  /** True if the sessions in the file are over. */
  isOver?: boolean;
}

/** Counts the stored, duplicate and refused events in `report`. Throws the errors of reading and of storing. */
export async function importFile(
  path: string,
  report: FileReport,
  { store, ...options }: ReadOptions & { store: StoreBatch },
): Promise<void> {
  const recorder = new Recorder(store, report);
  for await (const { event, line } of eventsOf(path, report, options)) {
    recorder.add(event, line);
    if (recorder.isFull) await recorder.flush();
  }
  await recorder.flush();
}

/** Yields each event with the number of the line that completed it. `report.failed` says why reading ended early. */
export async function* eventsOf(
  path: string,
  report: FileReport,
  { signal, progress, isOver }: ReadOptions,
): AsyncGenerator<{ event: ImportedEvent; line: number }> {
  const stats = await stat(path);
  // Reading a pipe or a device may never end. Reading a directory fails with an error that names the reason.
  if (!stats.isFile() && !stats.isDirectory()) {
    report.failed = 'it is not a regular file';
    return;
  }
  const transcript = new Transcript(report, Date.now());
  let last = 0;
  for await (const line of readLines(path)) {
    if (signal.aborted || transcript.isUnknown) break;
    last = line.number;
    progress?.(line.bytes);
    for (const event of transcript.read(line)) yield { event, line: last };
  }
  if (signal.aborted) report.failed = 'interrupted';
  else if (report.format === null)
    report.failed = `it is of no known format; known are: ${FORMATS.map(({ title }) => title).join(', ')}`;
  else for (const event of transcript.end(isOver)) yield { event, line: last };
}

const NEWLINE = 0x0a;

/** Keeps one line in memory at a time. Throws what reading the file throws. */
export async function* readLines(path: string, lineBytesMax = LINE_BYTES_MAX): AsyncGenerator<Line> {
  let number = 0;
  let parts: Buffer[] = [];
  let bytes = 0;
  const endLine = (): Line => {
    number += 1;
    const line = lineFrom(parts, number, bytes, lineBytesMax);
    parts = [];
    bytes = 0;
    return line;
  };
  for await (const chunk of createReadStream(path, { highWaterMark: MIB }) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      parts.push(chunk.subarray(from, at));
      bytes += at + 1 - from;
      yield endLine();
      from = at + 1;
    }
    bytes += chunk.length - from;
    // A line that is too long is not kept in memory.
    if (bytes > lineBytesMax) parts = [];
    else if (from < chunk.length) parts.push(chunk.subarray(from));
  }
  if (bytes > 0) yield endLine();
}

function lineFrom(parts: Buffer[], number: number, bytes: number, lineBytesMax: number): Line {
  if (bytes > lineBytesMax) return { number, bytes, text: undefined, fault: 'is too long' };
  const line = parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
  if (!isUtf8(line)) return { number, bytes, text: undefined, fault: 'is not UTF-8' };
  const text = line.toString('utf8');
  const isFirst = number === 1;
  return { number, bytes, text: (isFirst ? text.replace(/^\uFEFF/, '') : text).replace(/\r$/, '') };
}
