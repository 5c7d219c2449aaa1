import { findByEmail } from '../../../shared/db/stores/accounts.ts';
import { AppError } from '../../../shared/errors/app-error.ts';
import { AdminError } from '../admin-error.ts';
import { required } from '../arguments.ts';
import { type Admin, command, type Outcome } from '../command.ts';
import { type FoundFile, findFiles } from '../import/find-files.ts';
import { importFile } from '../import/import-file.ts';
import { Progress } from '../import/progress.ts';
import type { Owner } from '../import/recorder.ts';
import { FileReport } from '../import/report.ts';
import { table } from '../text.ts';

const COUNTS = ['stored', 'duplicates', 'invalid', 'skipped', 'broken'] as const;

export const importTranscripts = command({
  synopsis: '--user EMAIL FILE…',
  options: { user: { type: 'string' } },
  operands: 'many',
  read(values, first, paths) {
    const email = required('--user', values.user);
    required('FILE', first);
    return async (admin) => {
      const owner = {
        pool: admin.database.pool,
        quotas: admin.config.quotas,
        accountId: await idOf(admin, email),
      };
      return importAll(owner, await findFiles(paths));
    };
  },
});

async function idOf({ em }: Admin, email: string): Promise<string> {
  const account = await findByEmail(em, email);
  if (account?.active) return account.id;
  throw new AdminError('there is no active user with this e-mail address: `user list` shows the users');
}

/** Imports one file after the other, until the process is interrupted or the account can hold no more. */
async function importAll(owner: Owner, files: readonly FoundFile[]): Promise<Outcome> {
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  const { signal } = interrupted;
  const reports: FileReport[] = [];
  const progress = new Progress(files.length, (line) => process.stderr.write(line));
  let stopped: string | null = null;
  for (const { path, named } of files) {
    if (signal.aborted || stopped !== null) break;
    const report = new FileReport(path);
    reports.push(report);
    try {
      await importFile(path, report, { owner, signal, progress: (bytes) => progress.add(bytes, reports) });
    } catch (error) {
      report.failed = causeOf(error);
      if (error instanceof AppError) stopped = report.failed;
    }
    // A directory has files that are no transcripts.
    if (!named && report.format === null && report.failed !== null) reports.pop();
  }
  if (signal.aborted) stopped = 'interrupted; the same command continues';
  return outcomeOf(reports, stopped);
}

/** Why a file cannot be imported. Throws what is wrong with more than this file. */
function causeOf(error: unknown): string {
  if (error instanceof AppError)
    return error.code === 'not_authenticated' ? 'The user is gone.' : error.explanation;
  if (error instanceof Error && 'syscall' in error && 'path' in error) return error.message;
  throw error;
}

function outcomeOf(reports: readonly FileReport[], stopped: string | null): Outcome {
  const total = new FileReport('total');
  for (const report of reports) for (const count of COUNTS) total[count] += report[count];
  const rows = reports.length > 1 ? [...reports, { ...total, format: '' }] : reports;
  const notes = reports.flatMap(({ file, problems, more, failed }) => [
    ...problems.map((problem) => `${file}, ${problem}`),
    ...(more > 0 ? [`${file}: ${more} more problems`] : []),
    ...(failed === null ? [] : [`${file}: ${failed}`]),
  ]);
  const text = [table(rows, ['file', 'format', ...COUNTS]), ...notes, ...(stopped === null ? [] : [stopped])];
  const failed = stopped !== null || reports.some((report) => report.failed !== null);
  const counts = Object.fromEntries(COUNTS.map((count) => [count, total[count]]));
  return { data: { files: reports, total: counts, stopped }, text: text.join('\n'), failed };
}
