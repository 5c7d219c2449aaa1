import type { ImportedEvent } from '../../../shared/transcripts/conversation.ts';
import { SESSION_LIST, startIn } from '../../../shared/transcripts/formats/continue.ts';
import { FILE_EXTENSIONS } from '../../../shared/transcripts/formats.ts';
import { type Line, RecordSplitter } from '../../../shared/transcripts/records.ts';
import { FileReport, faultsIn } from '../../../shared/transcripts/report.ts';
import { Transcript } from '../../../shared/transcripts/transcript.ts';

const EXCERPTS_MAX = 20;
const MASK_MARKER = /\[masked [a-z ]+\]/g;
const EXCERPT_MARGIN = 40;

export interface FoundTranscripts {
  events: ImportedEvent[];
  sessions: number;
  /** Number of files without a known format. */
  unknown: number;
  /** Reasons, in English, why something could not be read. */
  faults: string[];
  /** Number of masked secrets. `excerpts` shows the first ones with the text around them. */
  masked: number;
  excerpts: string[];
}

export async function readFiles(
  files: readonly File[],
  say: (done: number, all: number) => void,
): Promise<FoundTranscripts> {
  const transcripts = files.filter(({ name }) =>
    FILE_EXTENSIONS.some((extension) => name.endsWith(extension)),
  );
  const found: FoundTranscripts = {
    events: [],
    sessions: 0,
    unknown: files.length - transcripts.length,
    faults: [],
    masked: 0,
    excerpts: [],
  };
  const sessions = new Set<string>();
  const list = files.find(({ name }) => name === SESSION_LIST);
  for (const [at, file] of transcripts.entries()) {
    say(at + 1, transcripts.length);
    const report = new FileReport(file.name);
    const startedMs = list && (await startIn(recordsIn(list), file.name));
    const transcript = new Transcript(report, { now: Date.now(), modifiedMs: file.lastModified, startedMs });
    for await (const line of recordsIn(file)) {
      if (transcript.isUnknown) break;
      found.events.push(...transcript.read(line));
    }
    found.events.push(...transcript.end());
    report.conclude({ isNamed: files.length === 1 });
    found.faults.push(...faultsIn([report]));
    if (report.format === null && report.failed === null) found.unknown += 1;
  }
  for (const event of found.events) {
    sessions.add(event['session_id'] ?? '');
    addMaskedExcerpts(event, found);
  }
  found.sessions = sessions.size;
  return found;
}

function addMaskedExcerpts({ prompt, text, reply }: ImportedEvent, found: FoundTranscripts): void {
  const words = prompt ?? text ?? reply ?? '';
  for (const { index, 0: marker } of words.matchAll(MASK_MARKER)) {
    found.masked += 1;
    if (found.excerpts.length < EXCERPTS_MAX)
      found.excerpts.push(
        words
          .slice(Math.max(0, index - EXCERPT_MARGIN), index + marker.length + EXCERPT_MARGIN)
          .toWellFormed(),
      );
  }
}

const CHUNK_BYTES = 8 * 1024 * 1024;

/** Keeps a part of the file in memory at a time. */
async function* recordsIn(file: File): AsyncGenerator<Line> {
  const splitter = new RecordSplitter();
  for (let from = 0; from < file.size; from += CHUNK_BYTES)
    yield* splitter.push(new Uint8Array(await file.slice(from, from + CHUNK_BYTES).arrayBuffer()));
  yield* splitter.end();
}
