import { randomUUID } from 'node:crypto';
import { createWriteStream, existsSync } from 'node:fs';
import { link, rename, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type pg from 'pg';
import { to } from 'pg-copy-streams';
import packageJson from '../../../package.json' with { type: 'json' };
import { AdminError } from '../admin-error.ts';
import { removeAtEnd } from './removed-at-end.ts';
import { inTransaction, migrationsOf, ourTables, quoteNames, type Table } from './tables.ts';

/**
 * A backup is a gzip, which has a checksum, of lines: the manifest, and for each table its name and columns, its rows in
 * COPY's text format, which has one row a line, and this line.
 */
export const END_OF_ROWS = Buffer.from('\\.\n');

export interface Manifest {
  version: string;
  taken_at: string;
  migrations: string[];
  /** Mondays of the weeks that have a partition. */
  weeks: string[];
}

/** Writes all rows as of one moment. Its locks block only migrations and the removal of old weeks. */
export async function writeBackup(url: string, file: string): Promise<Manifest & { bytes: number }> {
  refuseExisting(file);
  const unfinishedFile = `${file}.${randomUUID()}.unfinished`;
  using _unfinished = removeAtEnd(unfinishedFile);
  const manifest = await inTransaction(url, 'begin isolation level repeatable read read only', (client) =>
    writeAll(client, unfinishedFile),
  );
  const { size: bytes } = await stat(unfinishedFile);
  await renameUnlessExists(unfinishedFile, file);
  return { ...manifest, bytes };
}

function refuseExisting(file: string): void {
  if (existsSync(file)) throw new AdminError(`${file} exists: give another name`);
}

/** Uses a link because, unlike a rename, it never replaces a file made meanwhile. */
async function renameUnlessExists(unfinishedFile: string, file: string): Promise<void> {
  await link(unfinishedFile, file).catch(() => {
    refuseExisting(file);
    // Some file systems have no hard links.
    return rename(unfinishedFile, file);
  });
}

async function writeAll(client: pg.Client, file: string): Promise<Manifest> {
  const tables = await ourTables(client);
  if (tables.length > 0)
    await client.query(`lock table ${quoteNames(tables.map(({ name }) => name))} in access share mode`);
  const manifest = await manifestOf(client);
  const target = createWriteStream(file, { mode: 0o600, flush: true });
  await pipeline(Readable.from(contentOf(client, manifest, tables)), createGzip(), target);
  return manifest;
}

const WEEKS_QUERY = `
  select distinct to_char(to_date(right(c.relname, 8), 'YYYYMMDD'), 'YYYY-MM-DD') as week
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
   where i.inhparent in ('history'::regclass, 'drafts'::regclass) order by week`;

async function manifestOf(client: pg.Client): Promise<Manifest> {
  const { rows: weeks } = await client.query<{ week: string }>(WEEKS_QUERY);
  return {
    version: packageJson.version,
    taken_at: new Date().toISOString(),
    migrations: await migrationsOf(client),
    weeks: weeks.map(({ week }) => week),
  };
}

async function* contentOf(
  client: pg.Client,
  manifest: Manifest,
  tables: readonly Table[],
): AsyncGenerator<string | Buffer> {
  yield `${JSON.stringify(manifest)}\n`;
  for (const table of tables) {
    yield `${JSON.stringify(table)}\n`;
    yield* client.query(
      to(`copy (select ${quoteNames(table.columns)} from ${quoteNames([table.name])}) to stdout`),
    );
    yield END_OF_ROWS;
  }
}
