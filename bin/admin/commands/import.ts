import { isLockTimeout } from '../../../shared/db/faults.ts';
import { findByEmail } from '../../../shared/db/stores/accounts.ts';
import { restoreReceipts } from '../../../shared/db/stores/exported-events.ts';
import { recordBatch } from '../../../shared/db/stores/recording/record.ts';
import { checkBatch, receiptOf } from '../../../shared/domain/recording.ts';
import { IMPORTER, type Witness } from '../../../shared/domain/witness.ts';
import { AppError } from '../../../shared/errors/app-error.ts';
import type { RecordingReceipt } from '../../../shared/schemas/recording.ts';
import { print } from '../../../shared/text/visible.ts';
import { retry } from '../../../shared/timing/retry.ts';
import { type FoundFile, findFiles } from '../../../shared/transcripts/find-files.ts';
import { importFile } from '../../../shared/transcripts/import-file.ts';
import type { JsonObject } from '../../../shared/transcripts/json.ts';
import { FileReport, faultsIn, Progress } from '../../../shared/transcripts/report.ts';
import { AdminError } from '../admin-error.ts';
import { requireValue } from '../arguments.ts';
import { type Admin, command, type Outcome } from '../command.ts';
import { importExport, isExport } from '../exported-account.ts';
import { table } from '../text.ts';

const LOCKED_ACCOUNT_RETRY = { firstMs: 200, longestMs: 2000, tries: 10 };
const COUNT_FIELDS = ['stored', 'duplicates', 'invalid', 'skipped', 'unread', 'broken'] as const;

export const importTranscripts = command({
  summary: "Import transcripts of a person's work with agents, or an export of an account",
  synopsis: '--user EMAIL FILE…',
  example: '--user ada@example.com ~/.claude/projects',
  options: { user: { type: 'string' } },
  takesManyOperands: true,
  operand(first, paths) {
    requireValue('FILE', first);
    return paths;
  },
  read(values, paths) {
    const email = requireValue('--user', values.user);
    return async (admin) => {
      const accountId = await accountIdOf(admin, email);
      const files = await findFiles(paths);
      return importAll(importerOf(admin, accountId), files);
    };
  },
});

async function accountIdOf({ em }: Admin, email: string): Promise<string> {
  const account = await findByEmail(em, email);
  if (account?.active) return account.id;
  throw new AdminError('there is no active user with this e-mail address: `user list` shows the users');
}

interface ReadOptions {
  signal: AbortSignal;
  progress(bytes: number): void;
}

type ImportOne = (path: string, report: FileReport, options: ReadOptions) => Promise<void>;

function importerOf(admin: Admin, accountId: string): ImportOne {
  const { em } = admin;
  const store = storeOf(admin, accountId);
  const reportedStore = storeOf(admin, accountId, { ...IMPORTER, vouches: false });
  return async (path, report, options) => {
    if (!(await isExport(path)))
      return importFile(path, report, { store, owner: async () => accountId, ...options });
    return importExport(path, report, {
      em,
      accountId,
      async record(events, { reported }) {
        const receipt = await (reported ? reportedStore : store)(events);
        await restoreReceipts(em.fork(), accountId, events);
        return receipt;
      },
      ...options,
    });
  };
}

/**
 * Returns a function that checks and stores events by the rules of the API. The function may throw `quota_exceeded` or
 * `not_authenticated`.
 */
function storeOf(
  { database: { pool }, config: { quotas } }: Admin,
  accountId: string,
  witness: Witness = IMPORTER,
): (events: readonly JsonObject[]) => Promise<RecordingReceipt> {
  return async (events) => {
    const batch = await checkBatch(events, Date.now());
    if (batch.events.length === 0) return receiptOf(batch, { accepted: 0, foreign: [] });
    const result = await retry(() => recordBatch(pool, accountId, batch.events, { witness, quotas }), {
      ...LOCKED_ACCOUNT_RETRY,
      when: (error, tries) => isLockTimeout(error) && tries < LOCKED_ACCOUNT_RETRY.tries,
    });
    return receiptOf(batch, result);
  };
}

async function importAll(importOne: ImportOne, files: readonly FoundFile[]): Promise<Outcome> {
  const interruption = new AbortController();
  // Uses `on`, not `once`: npm passes Ctrl-C on to a process that already got it from the terminal.
  process.on('SIGINT', () => interruption.abort());
  const { signal } = interruption;
  const reports: FileReport[] = [];
  const progress = new Progress(files.length, (line) => print(line, process.stderr));
  let stopped: string | null = null;
  for (const { path, isNamed } of files) {
    if (signal.aborted || stopped !== null) break;
    const report = new FileReport(path);
    reports.push(report);
    try {
      await importOne(path, report, { signal, progress: (bytes) => progress.add(bytes, reports) });
      // Reports a file that is no transcript only if the command names it.
      if (!isNamed && report.format === null) reports.pop();
      report.conclude({ isNamed });
    } catch (error) {
      report.failed = causeOf(error);
      if (error instanceof AppError) stopped = report.failed;
    }
  }
  if (signal.aborted) stopped = 'interrupted; the same command continues';
  return outcomeOf(reports, stopped);
}

/** Rethrows unexpected errors. */
function causeOf(error: unknown): string {
  if (error instanceof AppError)
    return error.code === 'not_authenticated' ? 'The user is gone.' : error.explanation;
  if (error instanceof Error && 'syscall' in error && 'path' in error) return error.message;
  throw error;
}

function outcomeOf(reports: readonly FileReport[], stopped: string | null): Outcome {
  const total = new FileReport('total');
  for (const report of reports) for (const count of COUNT_FIELDS) total[count] += report[count];
  const rows = reports.length > 1 ? [...reports, { ...total, format: '' }] : reports;
  const text = [
    table(rows, ['file', 'format', ...COUNT_FIELDS]),
    ...faultsIn(reports),
    ...(stopped === null ? [] : [stopped]),
  ];
  const failed = stopped !== null || reports.some((report) => report.failed !== null);
  const counts = Object.fromEntries(COUNT_FIELDS.map((count) => [count, total[count]]));
  return { data: { files: reports, total: counts, stopped }, text: text.join('\n'), failed };
}
