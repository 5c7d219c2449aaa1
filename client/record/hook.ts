import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { escapeInvisible, print } from '../../shared/text/visible.ts';
import type { ImportedEvent } from '../../shared/transcripts/conversation.ts';
import { eventsOf } from '../../shared/transcripts/import-file.ts';
import { objectOf, parseObject, stringOf } from '../../shared/transcripts/json.ts';
import { Recorder } from '../../shared/transcripts/recorder.ts';
import { FileReport } from '../../shared/transcripts/report.ts';
import { ForecueError } from '../src/api.ts';
import {
  forgetUnsent,
  noteUnsent,
  readBookmark,
  readConnection,
  readUnsent,
  setBookmark,
  type UnsentTranscript,
} from './home.ts';
import { findOwnerOf, storeAt } from './send.ts';

/** Records in a separate process: Claude Code waits for a hook, and kills the hook at the session's end. */
export async function hook(): Promise<void> {
  const hookInput = objectOf(parseObject(await text(process.stdin)));
  const path = stringOf(hookInput['transcript_path']);
  if (path === undefined) return;
  const over = hookInput['hook_event_name'] === 'SessionEnd' ? ['--over'] : [];
  const args = [process.argv[1] ?? '', 'catch-up', ...over, '--', path];
  spawn(process.execPath, args, { detached: true, stdio: 'ignore' }).unref();
  const [unsent] = await readUnsent();
  if (unsent !== undefined)
    // Claude Code prints the message as it is.
    print(JSON.stringify({ systemMessage: `Forecue did not record: ${escapeInvisible(unsent.why)}` }));
}

/** Records the transcript's new events, then those that earlier recordings failed to send. */
export async function catchUp(path: string, isOver: boolean): Promise<void> {
  const earlier = (await readUnsent()).filter((unsent) => unsent.path !== path);
  // After a failure, skips the earlier transcripts: with an unreachable server, each would fail just as slowly.
  if (await tryToRecord({ path, isOver })) for (const unsent of earlier) await tryToRecord(unsent);
}

/** Returns false if recording fails, and notes the transcript for a retry. A deleted transcript is no failure. */
async function tryToRecord({ path, isOver }: Omit<UnsentTranscript, 'why'>): Promise<boolean> {
  try {
    await record(path, isOver);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // A transcript that was deleted cannot be recorded later either.
    if (code !== 'ENOENT') {
      const why = error instanceof ForecueError ? `${message} (${code})` : message;
      await noteUnsent({ path, isOver, why });
      return false;
    }
  }
  await forgetUnsent(path);
  return true;
}

async function record(path: string, isOver: boolean): Promise<void> {
  const connection = await readConnection();
  if (connection === undefined) return;
  const report = new FileReport(path);
  const rows: { event: ImportedEvent; line: number }[] = [];
  const reading = { signal: new AbortController().signal, isOver };
  for await (const row of eventsOf(path, report, reading)) rows.push(row);
  const bookmark = await readBookmark(path);
  const recorder = new Recorder(storeAt(connection), report, findOwnerOf(connection));
  for (const { event, line } of rows.slice(rows.findLastIndex(({ event }) => event.id === bookmark) + 1)) {
    recorder.add(event, line);
    if (recorder.isFull) await recorder.flush();
  }
  await recorder.flush();
  // Skips the ends of sessions: when the file grows, new events of other sessions come before them.
  const last = rows.findLast(({ event }) => event.type !== 'session.stopped');
  if (last !== undefined) await setBookmark(path, last.event.id);
  report.conclude({ isNamed: false });
  if (report.invalid > 0) throw new Error(report.problems.join('; '));
  if (report.failed !== null) throw new Error(report.failed);
}
