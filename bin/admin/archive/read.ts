import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import { createGunzip } from 'node:zlib';
import type pg from 'pg';
import { from } from 'pg-copy-streams';
import { AdminError } from '../admin-error.ts';
import { inTransaction, migrationsOf, ourTables, quoteNames, type Table } from './tables.ts';
import { END_OF_ROWS, type Manifest } from './write.ts';

/** Reads a whole backup and returns its manifest. Throws if it is damaged or cut short. */
export async function verifyBackup(file: string): Promise<Manifest> {
  let first: Buffer | undefined;
  for await (const line of linesIn(file)) first ??= line;
  if (!first?.toString('latin1').startsWith('{"version":')) throw backupDamagedError('it has no manifest');
  return JSON.parse(first.toString());
}

const NEWLINE = 0x0a;

/** Yields the lines of a backup, each with its end. Throws if it is damaged, at the latest after the last line. */
async function* linesIn(file: string): AsyncGenerator<Buffer> {
  const source = createReadStream(file);
  const bytes = createGunzip();
  // An error in either stream ends the other. The pipeline is not awaited: it ends only once its output is read.
  pipeline(source, bytes).catch(() => {});
  let rest: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of bytes as AsyncIterable<Buffer>) {
      rest = Buffer.concat([rest, chunk]);
      for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
        yield rest.subarray(0, end + 1);
        rest = rest.subarray(end + 1);
      }
    }
  } catch (error) {
    const { code = '', message } = Object(error) as NodeJS.ErrnoException;
    throw code.startsWith('Z_')
      ? backupDamagedError(message)
      : new AdminError(`${file} cannot be read (${message})`);
  } finally {
    source.destroy();
  }
}

function backupDamagedError(how: string): AdminError {
  return new AdminError(`this is no backup, or a damaged one (${how}): take another copy of it`);
}

/**
 * Fills a migrated database that has no rows yet, in one transaction, which ends with `finish`. Returns the number of
 * stored rows.
 */
export function restoreBackup(
  url: string,
  file: string,
  manifest: Manifest,
  finish: (client: pg.Client) => Promise<void> = async () => {},
): Promise<number> {
  return inTransaction(url, 'begin', async (client) => {
    const tables = await ourTables(client);
    await assertSameRelease(client, manifest);
    const names = tables.map(({ name }) => name);
    await client.query(`lock table ${quoteNames(names)} in exclusive mode`);
    await assertEmpty(client, names);
    await createWeekPartitions(client, manifest.weeks);
    // The triggers already ran for these rows in the original database.
    for (const name of names) await client.query(`alter table ${quoteNames([name])} disable trigger user`);
    const storedRows = await copyAll(client, file, tables);
    // COPY stores `arrival` as it was, and does not advance its sequence.
    await client.query(`
      select setval(pg_get_serial_sequence('recording_events', 'arrival'), max(last_arrival))
        from recording_sessions having max(last_arrival) > 0`);
    for (const name of names) await client.query(`alter table ${quoteNames([name])} enable trigger user`);
    // Ends the leases of processes that use the original database, not this one, so that their work is taken over.
    await client.query('update processes set alive_until = least(alive_until, now()), pools = null');
    await finish(client);
    await client.query(`analyze ${quoteNames(names)}`);
    return storedRows;
  });
}

async function assertSameRelease(client: pg.Client, { version, migrations }: Manifest): Promise<void> {
  if (!isDeepStrictEqual(await migrationsOf(client), migrations))
    throw new AdminError(
      `this is a backup of version ${version}, whose tables differ: restore it with that version, then upgrade`,
    );
}

async function assertEmpty(client: pg.Client, names: readonly string[]): Promise<void> {
  const filledTables: string[] = [];
  for (const name of names) {
    const { rowCount } = await client.query(`select from ${quoteNames([name])} limit 1`);
    if (rowCount !== 0) filledTables.push(name);
  }
  if (filledTables.length > 0)
    throw new AdminError(
      `the database is not empty (${filledTables.slice(0, 3).join(', ')}): stop the processes, and give DATABASE_URL a new one` +
        ' (`create database forecue_restored`), or for the embedded one move .data/postgres away; then repeat the restore',
    );
}

const WEEK_MS = 7 * 24 * 60 * 60 * 1000;

/** Creates weekly partitions as shared/db/sql/weeks.sql does. */
async function createWeekPartitions(client: pg.Client, weeks: readonly string[]): Promise<void> {
  for (const week of weeks) {
    if (!/^\d{4}-\d\d-\d\d$/.test(week)) throw backupDamagedError('a week is no date');
    const next = new Date(Date.parse(week) + WEEK_MS).toISOString().slice(0, 10);
    for (const [parent, time] of [
      ['history', ' 00:00:00+00'],
      ['drafts', ''],
    ])
      await client.query(
        `create table if not exists ${parent}_${week.replaceAll('-', '')} partition of ${parent}
           for values from ('${week}${time}') to ('${next}${time}')`,
      );
  }
}

async function copyAll(client: pg.Client, file: string, tables: readonly Table[]): Promise<number> {
  const lines = linesIn(file);
  await lines.next();
  let storedRows = 0;
  for (let head = await lines.next(); !head.done; head = await lines.next()) {
    const { name, columns }: Table = JSON.parse(head.value.toString());
    if (!tables.some((table) => isDeepStrictEqual(table, { name, columns })))
      throw backupDamagedError(`a table ${name} that this release does not have`);
    const copy = client.query(from(`copy ${quoteNames([name])} (${quoteNames(columns)}) from stdin`));
    await pipeline(rowsIn(lines), copy);
    storedRows += copy.rowCount;
  }
  return storedRows;
}

/** Yields the lines up to the end of a table's rows. */
async function* rowsIn(lines: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  for (let line = await lines.next(); !line.done; line = await lines.next()) {
    if (line.value.equals(END_OF_ROWS)) return;
    yield line.value;
  }
}
