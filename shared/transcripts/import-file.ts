import { stat } from 'node:fs/promises';
import type { ImportedEvent } from './conversation.ts';
import { FORMATS } from './formats.ts';
import { linesOf } from './lines.ts';
import { Recorder, type Store } from './recorder.ts';
import type { FileReport } from './report.ts';
import { Transcript } from './transcript.ts';

/** How a file is read. */
interface Reading {
  /** Ends it after the line that is being read. */
  signal: AbortSignal;
  /** Called for each line. */
  progress?(bytes: number): void;
  /** The sessions in it are over. */
  isOver?: boolean;
}

/** Imports one file, of whatever size, and reports what became of it. Throws what reading and storing throw. */
export async function importFile(
  path: string,
  report: FileReport,
  { store, ...reading }: Reading & { store: Store },
): Promise<void> {
  const recorder = new Recorder(store, report);
  for await (const { event, line } of eventsOf(path, report, reading)) {
    recorder.add(event, line);
    if (recorder.isFull) await recorder.flush();
  }
  await recorder.flush();
}

/** The events of a file, each with the line that completed it. The report says what was left out, and why it ended early. */
export async function* eventsOf(
  path: string,
  report: FileReport,
  { signal, progress, isOver }: Reading,
): AsyncGenerator<{ event: ImportedEvent; line: number }> {
  const stats = await stat(path);
  // Reading a pipe or a device may never end. Reading a directory fails, and says why.
  if (!stats.isFile() && !stats.isDirectory()) {
    report.failed = 'it is not a regular file';
    return;
  }
  const transcript = new Transcript(report, Date.now());
  let last = 0;
  for await (const line of linesOf(path)) {
    if (signal.aborted || transcript.isUnknown) break;
    last = line.number;
    progress?.(line.bytes);
    for (const event of transcript.read(line)) yield { event, line: last };
  }
  if (signal.aborted) report.failed = 'interrupted';
  else if (report.format === null) report.failed = `it is of no known format; known are: ${titles()}`;
  else for (const event of transcript.end(isOver)) yield { event, line: last };
}

function titles(): string {
  return FORMATS.map(({ title }) => title).join(', ');
}
