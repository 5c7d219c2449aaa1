import type { ImportedEvent } from '../../shared/transcripts/conversation.ts';
import { RecordSplitter } from '../../shared/transcripts/records.ts';
import { FileReport } from '../../shared/transcripts/report.ts';
import { Transcript } from '../../shared/transcripts/transcript.ts';

/** A time at which the sessions of the tests are still open. */
export const NOW = Date.parse('2026-05-01T20:00:00Z');

/** Reads a transcript as the importer does, in chunks of `chunkBytes`. */
export function readTranscript(
  text: string,
  options: { now?: number; modifiedMs?: number; isOver?: boolean; chunkBytes?: number } = {},
): { report: FileReport; events: ImportedEvent[] } {
  const { now = NOW, modifiedMs = now, isOver = false, chunkBytes = 1_000_000 } = options;
  const report = new FileReport('test');
  const transcript = new Transcript(report, { now, modifiedMs });
  const splitter = new RecordSplitter();
  const bytes = Buffer.from(text);
  const events: ImportedEvent[] = [];
  for (let from = 0; from < bytes.length; from += chunkBytes)
    for (const line of splitter.push(bytes.subarray(from, from + chunkBytes)))
      events.push(...transcript.read(line));
  for (const line of splitter.end()) events.push(...transcript.read(line));
  events.push(...transcript.end(isOver));
  report.conclude({ isNamed: true });
  return { report, events };
}
