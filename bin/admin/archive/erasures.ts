import { appendFile, readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import type pg from 'pg';
import { from, to } from 'pg-copy-streams';
import { Erasure } from '../../../shared/db/entities/erasure.ts';
import { Fact, Profile } from '../../../shared/db/entities/memory.ts';
import { changeMemory } from '../../../shared/db/stores/memory/change.ts';
import { eraseEpisode, eraseFact, eraseRaw } from '../../../shared/db/stores/memory/delete.ts';
import { eraseProfile } from '../../../shared/db/stores/memory/rows.ts';
import { ERASED, ERASURE_DAYS } from '../../../shared/domain/erasures.ts';
import { AppError } from '../../../shared/errors/app-error.ts';
import { AdminError } from '../admin-error.ts';
import { inTransaction } from './tables.ts';

/** A line of the list: account, kind, id or hash, moment. */
const LINE = new RegExp(
  String.raw`^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\t(?:${ERASED.join('|')})\t[\w-]*\t(\d{4}-\d\d-\d\dT[\d:.]+Z)$`,
);
const MOMENT = `to_char(erased_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** An entry can be seen once its transaction has ended, which is less than this after its moment. */
const OVERLAP_MS = 3_600_000;

/** Appends to the list what it lacks, and returns the number of new lines. */
export function appendErasures(url: string, file: string): Promise<number> {
  return inTransaction(url, 'begin isolation level repeatable read read only', async (client) => {
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '';
      throw new AdminError(`${file} cannot be read (${error.message})`);
    });
    const listed = new Set(linesIn(file, text));
    const latest = LINE.exec([...listed].at(-1) ?? '')?.[1];
    const since = new Date(latest === undefined ? 0 : Date.parse(latest) - OVERLAP_MS).toISOString();
    const entries = to(`copy (select account_id, what, subject, ${MOMENT} from erasures
                               where erased_at >= '${since}' order by erased_at) to stdout`);
    const newLines: string[] = [];
    for await (const line of createInterface({ input: client.query(entries) }))
      if (!listed.has(line)) newLines.push(`${line}\n`);
    // Begins a new line after one that a crash has cut.
    const start = text === '' || text.endsWith('\n') ? '' : '\n';
    // Without new lines this still creates the file, which a restore may be told to read.
    await appendFile(file, newLines.length > 0 ? start + newLines.join('') : '', {
      mode: 0o600,
      flush: true,
    });
    return newLines.length;
  });
}

function linesIn(file: string, text: string): string[] {
  const lines = text.split('\n');
  const entries = lines.filter(isEntry);
  if (entries.length === 0 && text.trim() !== '')
    throw new AdminError(`${file} is no list of erasures: \`admin erasures\` makes one`);
  // A crash cuts the last line, which is then appended again.
  const isCut = (line: string) => line === '' || entries.some((entry) => entry.startsWith(line));
  const damaged = lines.slice(0, -1).findIndex((line) => !isEntry(line) && !isCut(line));
  if (damaged >= 0)
    throw new AdminError(
      `${file} is damaged at line ${damaged + 1}: take another copy of it, or write a new list while the database answers`,
    );
  return entries;
}

function isEntry(line: string): boolean {
  return !Number.isNaN(Date.parse(LINE.exec(line)?.[1] ?? ''));
}

/** Copies a list to the temporary table `replaced_erasures`. */
export async function copyErasures(client: pg.Client, file: string): Promise<void> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new AdminError(`${file} cannot be read (${error.message})`);
  });
  await client.query(
    `create temporary table if not exists replaced_erasures on commit drop as
       select account_id, what, subject, erased_at from erasures with no data`,
  );
  const lines = linesIn(file, text).map((line) => `${line}\n`);
  await pipeline(Readable.from(lines), client.query(from('copy replaced_erasures from stdin')));
}

export const ERASE_ACCOUNTS = `
  update accounts a
     set active = false, erasing_at = now() - interval '1 minute', updated_at = now(),
         email = '', email_key = a.id::text, name = '', password_hash = ''
   where a.erasing_at is null`;

/** Names an erased account in its entry. */
export function hashOf(id: string): string {
  return `encode(sha256(convert_to(${id}::text, 'UTF8')), 'hex')`;
}

const LACKING = `
  create temporary table lacking_erasures on commit drop as
    select distinct on (r.account_id, r.what, r.subject) r.* from replaced_erasures r
     where (r.what = 'statement' or r.erased_at > now() - interval '${ERASURE_DAYS} days')
       and not exists (select from erasures e
                        where e.account_id = r.account_id and e.what = r.what and e.subject = r.subject
                          and e.erased_at >= r.erased_at)
     order by r.account_id, r.what, r.subject, r.erased_at desc`;

/** The first process to run erases the rest of the accounts. */
const TAKE_OVER = [
  `${ERASE_ACCOUNTS} and ${hashOf('a.id')} in (
     select subject from lacking_erasures where what = 'account')`,
  `with ended as (
     update connections c set status = 'revoked', revoked_at = now() from accounts a
      where a.id = c.account_id and a.erasing_at is not null and c.status = 'connected'
     returning c.id)
   insert into ending_connections (connection_id, ended_at) select id, now() from ended
   on conflict (connection_id) do update set ended_at = excluded.ended_at`,
  `insert into memory_tombstones (account_id, event_hash)
   select l.account_id, decode(l.subject, 'hex') from lacking_erasures l join accounts a on a.id = l.account_id
    where l.what in ('event', 'tombstone')
   on conflict do nothing`,
  `with gone as (
     delete from recording_events v using lacking_erasures l
      where l.what = 'event' and v.account_id = l.account_id
        and event_hash(v.account_id, v.id) = decode(l.subject, 'hex')
     returning v.account_id, octet_length(v.body) as bytes)
   update account_usage u set events = u.events - g.events, bytes = u.bytes - g.bytes
     from (select account_id, count(*) as events, sum(bytes) as bytes from gone group by 1) g
    where u.account_id = g.account_id`,
  `insert into erasures (account_id, what, subject, erased_at, pending)
   select l.account_id, l.what, l.subject, l.erased_at, l.what <> 'account' from lacking_erasures l
    where l.what = 'account' or exists (select from accounts a where a.id = l.account_id and a.erasing_at is null)
   on conflict (account_id, what, subject) do update set erased_at = excluded.erased_at, pending = excluded.pending`,
];

/** Takes over the entries of `replaced_erasures` that the database lacks. What they name is pending then. */
export async function takeOverErasures(client: pg.Client): Promise<void> {
  for (const statement of [LACKING, ...TAKE_OVER]) await client.query(statement);
}

type Eraser = (tx: EntityManager, entry: Erasure) => Promise<unknown>;

/** Keeps what was written after the moment. */
const ERASERS: Record<string, Eraser> = {
  raw: (tx, { accountId, subject }) => eraseRaw(tx, accountId, subject, { purgeEvent: false }),
  episode: (tx, { accountId, subject }) => eraseEpisode(tx, accountId, subject),
  async fact(tx, { accountId, subject, erasedAt }) {
    await tx.findOneOrFail(Fact, { id: subject, recordedAt: { $lt: erasedAt } });
    await eraseFact(tx, accountId, subject);
  },
  async profile(tx, { accountId, erasedAt }) {
    await tx.findOneOrFail(Profile, { account: accountId, updatedAt: { $lt: erasedAt } });
    await eraseProfile(tx, accountId);
  },
};

const PAGE_ROWS_MAX = 100;

/** Erases what is pending, row by row, and returns how many rows there were. Goes on where an earlier call ended. */
export async function finishErasures(em: () => EntityManager): Promise<number> {
  let erased = 0;
  const what = { $in: Object.keys(ERASERS) };
  for (;;) {
    const page = await em().find(Erasure, { pending: true, what }, { limit: PAGE_ROWS_MAX });
    for (const entry of page) erased += Number(await finishErasure(em(), entry));
    if (page.length < PAGE_ROWS_MAX) break;
  }
  // Until here they kept the moments at which they were forgotten.
  await em().nativeUpdate(Erasure, { pending: true }, { pending: false });
  return erased;
}

/** Returns false if the row is not there. */
function finishErasure(em: EntityManager, entry: Erasure): Promise<boolean> {
  const { accountId, what, subject } = entry;
  const erase = async (tx: EntityManager) => {
    const isThere = await (ERASERS[what]?.(tx, entry) ?? Promise.resolve()).then(
      () => true,
      (error: unknown) => {
        if (error instanceof AppError && error.code === 'not_found') return false;
        throw error;
      },
    );
    await tx.nativeUpdate(Erasure, { accountId, what, subject }, { pending: false });
    return isThere;
  };
  return changeMemory(em, accountId, erase, { evenDisabled: true });
}
