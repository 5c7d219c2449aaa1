import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import { createGunzip } from 'node:zlib';
import type pg from 'pg';
import { from } from 'pg-copy-streams';
import { AdminError } from '../admin-error.ts';
import { backupDamagedError, decodeFrames, type Frame } from './frames.ts';
import { inTransaction, migrationsOf, ourTables, quoteNames, type Table } from './tables.ts';
import type { Manifest } from './write.ts';

/** Reads a whole backup and returns its manifest. Throws if it is damaged or cut short. */
export async function verifyBackup(file: string): Promise<Manifest> {
  let manifest: Manifest | undefined;
  for await (const { type, body } of framesIn(file))
    if (type === 'M') manifest ??= JSON.parse(body.toString());
  if (manifest === undefined) throw backupDamagedError('it has no manifest');
  return manifest;
}

async function* framesIn(file: string): AsyncGenerator<Frame> {
  const source = createReadStream(file);
  const bytes = createGunzip();
  // An error in either stream ends the other. The pipeline is not awaited: it ends only once its output is read.
  pipeline(source, bytes).catch(() => {});
  try {
    yield* decodeFrames(bytes);
  } catch (error) {
    if (error instanceof AdminError) throw error;
    const { code = '', message } = Object(error) as NodeJS.ErrnoException;
    throw code.startsWith('Z_')
      ? backupDamagedError(message)
      : new AdminError(`${file} cannot be read (${message})`);
  } finally {
    source.destroy();
  }
}

/** Fills a migrated database that has no rows yet, in one transaction. Returns the number of stored rows. */
export function restoreBackup(url: string, file: string, manifest: Manifest): Promise<number> {
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
  const frames = framesIn(file);
  let storedRows = 0;
  let frame = await frames.next();
  async function* rows(): AsyncGenerator<Buffer> {
    for (frame = await frames.next(); frame.value?.type === 'D'; frame = await frames.next())
      yield frame.value.body;
  }
  while (!frame.done) {
    if (frame.value.type !== 'T') {
      frame = await frames.next();
      continue;
    }
    const { name, columns }: Table = JSON.parse(frame.value.body.toString());
    if (!tables.some((table) => isDeepStrictEqual(table, { name, columns })))
      throw backupDamagedError(`a table ${name} that this release does not have`);
    const copy = client.query(from(`copy ${quoteNames([name])} (${quoteNames(columns)}) from stdin`));
    await pipeline(rows(), copy);
    storedRows += copy.rowCount;
  }
  return storedRows;
}
