import type { Pool } from 'pg';
import { type AdminConfig, adminConfig } from '../../../shared/config/config.ts';
import type { Database } from '../../../shared/db/orm.ts';
import { isCopy, markPlace } from '../../../shared/db/place.ts';
import { countPendingErasures } from '../../../shared/db/stores/erasures.ts';
import { noteBackup } from '../../../shared/db/stores/installation.ts';
import { escapeInvisible } from '../../../shared/text/visible.ts';
import { type Ended, endAfterRestore } from '../archive/after-restore.ts';
import { copyDatabase, fillDatabase } from '../archive/copy.ts';
import { appendErasures, finishErasures } from '../archive/erasures.ts';
import { verifyBackup } from '../archive/read.ts';
import { inTransaction } from '../archive/tables.ts';
import { writeBackup } from '../archive/write.ts';
import { fileName } from '../arguments.ts';
import { command, standaloneCommand, useDatabase } from '../command.ts';
import { DATA_FOLDER, openEmbedded, openReplaced, openTarget } from '../target.ts';

export const backup = command({
  summary: 'Write all rows of one moment to a file, while the system runs',
  synopsis: 'FILE',
  example: 'forecue-2026-11-25.backup',
  operand: fileName,
  read(_, file) {
    return async ({ config, em }) => {
      const { version, taken_at, bytes } = await writeBackup(config.database.directUrl, file);
      await noteBackup(em, new Date(taken_at));
      const text = `${escapeInvisible(file)} has every row of ${taken_at}, in ${bytes} bytes. It holds people's texts: keep it as safe as the database.`;
      return { data: { file, version, taken_at, bytes }, text };
    };
  },
});

export const erasures = command({
  summary: 'Append to a list what people erased since it was last written, for a later restore',
  synopsis: 'LIST',
  example: 'forecue.erasures',
  operand: fileName,
  read(_, file) {
    return async ({ config }) => {
      const added = await appendErasures(config.database.directUrl, file);
      const text = `${escapeInvisible(file)} has ${added} new entries. Keep it where the database is not; it holds no texts.`;
      return { data: { file, added }, text };
    };
  },
});

const AFTER_RESTORE_OPTIONS = {
  replaces: { type: 'string' },
  erasures: { type: 'string' },
  'keep-log-ins': { type: 'boolean', default: false },
} as const;
const AFTER_RESTORE_SYNOPSIS = '[--replaces DATABASE] [--erasures LIST] [--keep-log-ins]';

export const restore = standaloneCommand({
  summary: 'Fill an empty database, or an embedded one that does not run, from a backup',
  synopsis: `FILE ${AFTER_RESTORE_SYNOPSIS}`,
  example: 'forecue-2026-11-25.backup --replaces forecue',
  options: AFTER_RESTORE_OPTIONS,
  operand: fileName,
  read({ replaces, erasures, 'keep-log-ins': keepLogIns }, file) {
    return async () => {
      const manifest = await verifyBackup(file);
      await using target = await openTarget(process.env);
      await using replaced = await openReplaced(process.env, target.config, replaces);
      let ended: Ended | null = null;
      const rows = await fillDatabase(target.config, file, manifest, async (client) => {
        ended = await endAfterRestore(client, {
          replacedUrl: replaced?.url,
          erasuresFile: erasures,
          keepLogIns,
        });
      });
      const after = { ended, erased: await eraseAgain(target.config), keepLogIns, erasures };
      const { version, taken_at } = manifest;
      const data = { file, version, taken_at, rows, ...afterRestoreData(after) };
      const text = `${rows} rows of ${escapeInvisible(taken_at)} are restored. ${afterRestoreText(after)}`;
      return { data, text };
    };
  },
});

export const restored = command({
  summary: 'End log-ins, and what had ended since, after a restore by other means',
  synopsis: AFTER_RESTORE_SYNOPSIS,
  example: '--replaces forecue',
  options: AFTER_RESTORE_OPTIONS,
  read({ replaces, erasures, 'keep-log-ins': keepLogIns }) {
    return async ({ config, database: { pool } }) => {
      if (replaces === undefined && erasures === undefined && (await isInterrupted(pool))) {
        const erased = await eraseAgain(config);
        const text = `The interrupted restore is finished: ${erased} more rows of memory are erased. Start the processes, and look at them with \`doctor --live\`.`;
        return { data: { erased }, text };
      }
      await using replaced = await openReplaced(process.env, config, replaces);
      const ended = await inTransaction(config.database.directUrl, 'begin', (client) =>
        endAfterRestore(client, { replacedUrl: replaced?.url, erasuresFile: erasures, keepLogIns }),
      );
      const after = { ended, erased: await eraseAgain(config), keepLogIns, erasures };
      return { data: afterRestoreData(after), text: afterRestoreText(after) };
    };
  },
});

/** A restore ends log-ins, and what had ended, in the transaction that notes what it then erases. */
async function isInterrupted(pool: Pool): Promise<boolean> {
  return (await countPendingErasures(pool)) > 0 && !(await isCopy(pool));
}

/** Processes wait until this is done: what was erased since the backup is erased here before anybody is served. */
function eraseAgain(config: AdminConfig): Promise<number> {
  const erase = async ({ em, pool }: Database) => {
    const erased = await finishErasures(em);
    await markPlace(pool);
    return erased;
  };
  return useDatabase(config, erase, ERASURE_STATEMENT_MS);
}

/** A deletion in a large memory compares for longer than a request may take. */
const ERASURE_STATEMENT_MS = 600_000;

interface AfterRestore {
  ended: Ended | null;
  erased: number;
  keepLogIns: boolean;
  erasures: string | undefined;
}

function afterRestoreData({ ended, erased, keepLogIns }: AfterRestore): object {
  return { log_ins: keepLogIns ? 'kept' : 'ended', ended, erased };
}

function afterRestoreText({ ended, erased, keepLogIns, erasures }: AfterRestore): string {
  const logIns = keepLogIns
    ? 'The log-ins of the backup go on.'
    : 'All log-ins have ended: people and operators log in again.';
  const isTold = ended !== null || erasures !== undefined || erased > 0;
  const rows = isTold
    ? ` Rows of memory that were erased since, and are erased here too: ${erased}.`
    : ` ${NOT_ERASED}`;
  return `${logIns} ${ended === null ? NOT_REPLAYED : replayedText(ended)}${rows} Start the processes, and look at them with \`doctor --live\`.`;
}

const NOT_REPLAYED =
  'What had ended since the backup works again: keys, connections, passwords, and accounts that were disabled. End it again, or repeat the restore with --replaces.';
const NOT_ERASED =
  'What people erased since is there again: repeat the restore with --erasures or --replaces, or run `restored` with one of them before the processes start.';

function replayedText(ended: Ended): string {
  const counts = Object.entries(ended)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => `${what.replaceAll('_', ' ')}: ${count}`);
  const what =
    counts.length === 0 ? 'Nothing had ended' : `What had ended has ended here too (${counts.join(', ')})`;
  const erasure = ended.erased_accounts > 0 ? ' The texts of erased accounts go when a process runs.' : '';
  return `${what} in the replaced database since the backup.${erasure}`;
}

export const move = standaloneCommand({
  summary: 'Copy the stopped embedded database to the empty one of DATABASE_URL',
  read() {
    return async () => {
      const target = adminConfig(process.env);
      await using embedded = await openEmbedded(process.env);
      const rows = await copyDatabase(embedded.config, target, DATA_FOLDER);
      const text = `${rows} rows are moved. Start with this DATABASE_URL, and with the JWT_SECRET of .data/jwt-secret, so that people stay logged in. The embedded database is as it was.`;
      return { data: { rows }, text };
    };
  },
});
