import type { Pool } from 'pg';
import { TOMBSTONE_DAYS } from '../../../schemas/limits.ts';
import { query, type Statement } from '../../statement.ts';

const MOST = 1000;

const ERASE = {
  name: 'erase_v1',
  text: `
    with over as (
      select id from predictions where expires_at <= now() and not erased
       order by expires_at limit ${MOST} for update skip locked
    ), gone as (
      delete from prediction_texts t using over where t.prediction_id = over.id
    )
    update predictions p set erased = true from over where p.id = over.id returning p.id`,
};

/** Deletes what was written and suggested, once its recovery window is over. Returns how many were erased. */
export async function eraseTexts(pool: Pool): Promise<number> {
  return all(pool, ERASE);
}

/** A version 7 id starts with its moment, so that old rows stand together; the rows' own times decide. */
const TOMBSTONES = {
  name: 'tombstones_v1',
  text: `
    delete from predictions where id in (
      select id from predictions
       where erased and ended_at < now() - interval '${TOMBSTONE_DAYS} days'
         and id < (rpad(lpad(to_hex((extract(epoch from now() - interval '${TOMBSTONE_DAYS - 1} days') * 1000)::bigint), 12, '0'), 32, '0'))::uuid
       order by id limit ${MOST} for update skip locked)
    returning id`,
};

const SESSIONS = {
  name: 'old_sessions_v1',
  text: `
    delete from prediction_sessions where (app_id, user_id, session_id) in (
      select app_id, user_id, session_id from prediction_sessions
       where updated_at < now() - interval '${TOMBSTONE_DAYS} days' limit ${MOST} for update skip locked)
    returning session_id`,
};

/** What was only for a time, with the moment after which it is of no use to anybody. */
const EXPIRED = [
  ['prediction_events', `recorded_at < now() - interval '${TOMBSTONE_DAYS} days'`],
  ['connection_attempts', `greatest(expires_at, code_expires_at) < now() - interval '1 day'`],
  ['refresh_tokens', `expires_at < now() - interval '1 day'`],
  ['web_sessions', `expires_at < now()`],
].map(([table, over]) => ({
  name: `old_${table}_v1`,
  text: `delete from ${table} where ctid = any (array(select ctid from ${table} where ${over} limit ${MOST})) returning 1`,
}));

const PROCESSES = {
  name: 'old_processes_v1',
  text: `delete from processes where alive_until < now() - interval '1 hour' returning id`,
};

/** Deletes what is kept for 35 days only, and the rows of processes that died long ago. */
export async function forget(pool: Pool): Promise<number> {
  let total = 0;
  for (const statement of [TOMBSTONES, SESSIONS, PROCESSES, ...EXPIRED]) total += await all(pool, statement);
  return total;
}

/** Repeats a bounded statement until it finds little, so that no single one holds its locks for long. */
async function all(pool: Pool, statement: Statement): Promise<number> {
  for (let total = 0; ; ) {
    const { length } = await query(pool, statement, []);
    total += length;
    if (length < MOST) return total;
  }
}
