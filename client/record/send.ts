import { print } from '../../shared/text/visible.ts';
import { findFiles } from '../../shared/transcripts/find-files.ts';
import { importFile } from '../../shared/transcripts/import-file.ts';
import type { FindOwner, StoreBatch } from '../../shared/transcripts/recorder.ts';
import { FileReport, faultsIn, Progress } from '../../shared/transcripts/report.ts';
import { type AccountClient, createAccountClient, ForecueError } from '../src/api.ts';
import type { Connection } from './home.ts';

/** Allows more time and retries than usual: batches are large, and may wait until the account's rate limit resets. */
const BATCH_CALL_LIMITS = { timeoutMs: 120_000, retries: 8 };

export function storeAt({ url: baseUrl, key: credential }: Connection): StoreBatch {
  const client = createAccountClient({ baseUrl, credential, ...BATCH_CALL_LIMITS });
  // Skips the type check, since the server checks each event.
  return (events) => client.recordEvents(events as Parameters<AccountClient['recordEvents']>[0]);
}

/** Returns undefined if the key has scopes, because such a key cannot read its account. */
export function findOwnerOf({ url: baseUrl, key: credential }: Connection): FindOwner {
  return async () => {
    try {
      return (await createAccountClient({ baseUrl, credential }).readAccount()).id;
    } catch (error) {
      if (error instanceof ForecueError && error.status === 403) return undefined;
      throw error;
    }
  };
}

export async function sendAll(
  connection: Connection,
  paths: readonly string[],
): Promise<{ text: string; failed: boolean }> {
  const into = { store: storeAt(connection), owner: findOwnerOf(connection) };
  const files = await findFiles(paths);
  const interrupted = new AbortController();
  // Uses `on`, not `once`: npx passes Ctrl-C on to a process that already got it from the terminal.
  process.on('SIGINT', () => interrupted.abort());
  const { signal } = interrupted;
  const reports: FileReport[] = [];
  let isStopped = false;
  const progress = new Progress(files.length, (line) => print(line, process.stderr));
  for (const { path, isNamed } of files) {
    if (signal.aborted || isStopped) break;
    const report = new FileReport(path);
    reports.push(report);
    try {
      await importFile(path, report, { ...into, signal, progress: (bytes) => progress.add(bytes, reports) });
      // Leaves files that are not transcripts out of the summary, unless the person named them.
      if (!isNamed && report.format === null) reports.pop();
      report.conclude({ isNamed });
    } catch (error) {
      report.failed = (error as Error).message;
      // A `ForecueError` comes from storing the events, not from reading the file: other files would fail, too.
      isStopped = error instanceof ForecueError;
    }
  }
  const note = signal.aborted ? 'interrupted; the same command continues\n' : '';
  const failed = signal.aborted || reports.some((report) => report.failed !== null);
  return { text: summaryOf(reports) + note, failed };
}

function summaryOf(reports: readonly FileReport[]): string {
  const sum = (count: 'stored' | 'duplicates' | 'invalid' | 'unread' | 'broken') =>
    reports.reduce((total, report) => total + report[count], 0);
  const head = `${reports.length} transcripts: ${sum('stored')} events recorded, ${sum('duplicates')} were there, ${sum('invalid')} refused, ${sum('unread')} messages of unknown form, ${sum('broken')} lines broken`;
  return [head, ...faultsIn(reports), ''].join('\n');
}
