import { stat } from 'node:fs/promises';
import type { ImportedEvent } from './conversation.ts';
import { FORMATS } from './formats.ts';
import { linesOf } from './lines.ts';
import { type Owner, Recorder } from './recorder.ts';
import type { FileReport } from './report.ts';
import { Transcript } from './transcript.ts';

interface Import {
  owner: Owner;
  /** Ends the import after the line that is being read. */
  signal: AbortSignal;
  /** Told about each line. */
  progress(bytes: number): void;
}

/**
 * Imports one file, of whatever size, and reports what became of it. Whatever interrupted it, importing it again
 * continues: what is stored already counts as a duplicate. Throws what reading and storing throw.
 */
export async function importFile(
  path: string,
  report: FileReport,
  { owner, signal, progress }: Import,
): Promise<void> {
  const stats = await stat(path);
  // Reading a pipe or a device may never end. Reading a directory fails, and says why.
  if (!stats.isFile() && !stats.isDirectory()) {
    report.failed = 'it is not a regular file';
    return;
  }
  const recorder = new Recorder(owner, report);
  const transcript = new Transcript(report, Date.now());
  const take = async (events: ImportedEvent[], line: number) => {
    for (const event of events) {
      recorder.add(event, line);
      if (recorder.isFull) await recorder.store();
    }
  };
  let last = 0;
  for await (const line of linesOf(path)) {
    if (signal.aborted || transcript.isUnknown) break;
    last = line.number;
    progress(line.bytes);
    await take(transcript.read(line), line.number);
  }
  if (signal.aborted) report.failed = 'interrupted';
  else if (report.format === null) report.failed = `it is of no known format; known are: ${titles()}`;
  else await take(transcript.end(), last);
  await recorder.store();
}

function titles(): string {
  return FORMATS.map(({ title }) => title).join(', ');
}
