import type { Pool } from 'pg';
import { TOMBSTONE_DAYS } from '../../../schemas/limits.ts';
import { query, type Statement } from '../../statement.ts';
import { oldCalls } from '../provider-calls.ts';

const MOST = 1000;

/**
 * An id begins with the time of its admission (UUID version 7), so the index has the oldest answers side by side: each
 * round reads the answers that it deletes, and the few that were admitted before the window and ended within it. By
 * `ctid`, because no plan turns that into a join that reads the whole table.
 */
const ANSWERS = {
  name: 'erase_answers_v1',
  text: `
    delete from answers where ctid = any (array(
      select ctid from answers
       where expires_at <= now()
         and id < (rpad(lpad(to_hex((extract(epoch from now() - make_interval(secs => $1)) * 1000)::bigint), 12, '0'), 32, '0'))::uuid
       order by id limit ${MOST} for update skip locked))
    returning 1`,
};

/** Deletes answers whose recovery window has passed. Returns how many. */
export function eraseAnswers(pool: Pool, recoveryWindowS: number): Promise<number> {
  return inBatches(pool, ANSWERS, [recoveryWindowS]);
}

/** Temporary rows, and when they are of no more use. */
const EXPIRED = [
  ['prediction_events', `recorded_at < now() - interval '${TOMBSTONE_DAYS} days'`],
  ['connection_attempts', `greatest(expires_at, code_expires_at) < now() - interval '1 day'`],
  ['refresh_tokens', `expires_at < now() - interval '1 day'`],
  ['web_sessions', `expires_at < now()`],
  ['login_networks', `expires_at < now()`],
].map(([table, over]) => ({
  name: `old_${table}_v1`,
  text: `delete from ${table} where ctid = any (array(select ctid from ${table} where ${over} limit ${MOST})) returning 1`,
}));

const PROCESSES = {
  name: 'old_processes_v1',
  text: `delete from processes where alive_until < now() - interval '1 hour' returning id`,
};

const MAKE_WEEKS = { name: 'make_weeks_v1', text: 'select make_weeks_v1()' };

/** Makes the missing partitions of this week and the next two. */
export async function makeWeeks(pool: Pool): Promise<void> {
  await query(pool, MAKE_WEEKS, []);
}

const DROP_WEEKS = { name: 'drop_weeks_v1', text: `select drop_weeks_v1(${TOMBSTONE_DAYS})` };

/** Deletes what is older than `TOMBSTONE_DAYS` (calls to providers: `LEDGER_DAYS`), and the rows of dead processes. */
export async function forget(pool: Pool): Promise<void> {
  for (const statement of [PROCESSES, ...EXPIRED, oldCalls(MOST)]) await inBatches(pool, statement);
  await makeWeeks(pool);
  await query(pool, DROP_WEEKS, []);
}

/** Repeats a bounded statement until it finds less than a full batch, so that none holds its locks for long. */
async function inBatches(pool: Pool, statement: Statement, values: unknown[] = []): Promise<number> {
  for (let total = 0; ; ) {
    const { length } = await query(pool, statement, values);
    total += length;
    if (length < MOST) return total;
  }
}
