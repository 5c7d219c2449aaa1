import type { ImportedEvent } from '../../../shared/transcripts/conversation.ts';
import { FILE_EXTENSIONS } from '../../../shared/transcripts/formats.ts';
import { FileReport } from '../../../shared/transcripts/report.ts';
import { LINE_BYTES_MAX, type Line, Transcript } from '../../../shared/transcripts/transcript.ts';

const EXCERPTS_MAX = 20;
const MASK_MARKER = /\[masked [a-z ]+\]/g;
const EXCERPT_MARGIN = 40;

export interface FoundTranscripts {
  events: ImportedEvent[];
  sessions: number;
  /** Number of files without a known format. */
  unknown: number;
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
    masked: 0,
    excerpts: [],
  };
  const sessions = new Set<string>();
  for (const [at, file] of transcripts.entries()) {
    say(at + 1, transcripts.length);
    const report = new FileReport(file.name);
    const transcript = new Transcript(report, Date.now());
    for (const line of linesOf(await file.text())) {
      if (transcript.isUnknown) break;
      found.events.push(...transcript.read(line));
    }
    if (report.format === null) found.unknown += 1;
    else found.events.push(...transcript.end());
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

function* linesOf(text: string): Generator<Line> {
  const encoder = new TextEncoder();
  let number = 0;
  for (const line of text.split('\n')) {
    number += 1;
    const bytes = line.length > LINE_BYTES_MAX / 3 ? encoder.encode(line).length : line.length;
    if (bytes > LINE_BYTES_MAX) yield { number, bytes, text: undefined, fault: 'is too long' };
    else yield { number, bytes, text: line.replace(/\r$/, '') };
  }
}
