import { createReadStream } from 'node:fs';
import { lstat, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { MIB } from '../schemas/limits.ts';
import type { ImportedEvent } from './conversation.ts';
import { SESSION_LIST, startIn } from './formats/continue.ts';
import { FORMATS } from './formats.ts';
import { OPENCODE_DATABASE, sessionsIn } from './opencode-db.ts';
import { type FindOwner, Recorder, type StoreBatch } from './recorder.ts';
import { LINE_BYTES_MAX, type Line, RecordSplitter } from './records.ts';
import type { FileReport } from './report.ts';
import { Transcript } from './transcript.ts';

const UNKNOWN = `it is of no known format; known are: ${FORMATS.map(({ title }) => title).join(', ')}`;
const TOO_LARGE = `it is one JSON value of more than ${LINE_BYTES_MAX / MIB} MiB: import an export of fewer conversations`;

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
  { store, owner, ...options }: ReadOptions & { store: StoreBatch; owner: FindOwner },
): Promise<void> {
  const recorder = new Recorder(store, report, owner);
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
  const startedMs = await startOf(path, report);
  const transcript = new Transcript(report, {
    now: Date.now(),
    modifiedMs: stats.mtimeMs,
    startedMs,
    folder: folderOf(path),
  });
  let last = 0;
  for await (const line of recordsIn(path, report)) {
    if (signal.aborted || transcript.isUnknown) break;
    last = line.number;
    progress?.(line.bytes);
    for (const event of transcript.read(line)) yield { event, line: last };
  }
  if (signal.aborted) {
    report.failed = 'interrupted';
    return;
  }
  for (const event of transcript.end(isOver)) yield { event, line: last };
  if (report.format === null) report.failed ??= transcript.isTooLarge ? TOO_LARGE : UNKNOWN;
}

/** Returns when the session in the file began, in Unix milliseconds, if a list of sessions is beside it. */
async function startOf(path: string, report: FileReport): Promise<number | undefined> {
  const list = join(dirname(path), SESSION_LIST);
  const hasList = path.endsWith('.json') && (await lstat(list).catch(() => undefined))?.isFile();
  return hasList ? startIn(recordsIn(list, report), basename(path)) : undefined;
}

/** Matches where tools keep their files inside of a project. */
const IN_PROJECT = /[\\/](?:\.specstory[\\/].*|\.aider\.chat\.history\.md)$/;

/** Returns the folder of the project in which a tool keeps the file; undefined for a file that is kept elsewhere. */
function folderOf(path: string): string | undefined {
  const full = resolve(path);
  return IN_PROJECT.test(full) ? full.replace(IN_PROJECT, '') : undefined;
}

/** Throws what reading the file throws. */
async function* recordsIn(path: string, report: FileReport): AsyncGenerator<Line> {
  if (basename(path) === OPENCODE_DATABASE) return yield* sessionsIn(path, report);
  const splitter = new RecordSplitter();
  for await (const chunk of createReadStream(path, { highWaterMark: MIB }) as AsyncIterable<Buffer>)
    yield* splitter.push(chunk);
  yield* splitter.end();
}
