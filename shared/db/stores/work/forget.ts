import type { Pool } from 'pg';
import { ERASURE_DAYS } from '../../../domain/erasures.ts';
import { LEDGER_DAYS } from '../../../domain/provider-call.ts';
import { ACCESS_DAYS, DELIVERY_DAYS, GRANT_UNUSED_DAYS, TOMBSTONE_DAYS } from '../../../schemas/limits.ts';
import { query, type SqlStatement } from '../../statement.ts';
import { ROWS_AT_ONCE, repeatStep, takeSteps } from '../../steps.ts';

/**
 * Ids begin with the time of admission (UUID version 7), so the condition on `id` skips nearly all answers that have
 * not expired. Selects rows by `ctid`, because the planner cannot turn that into a join that reads the whole table.
 */
const ERASE_ANSWERS = {
  name: 'erase_answers_v1',
  text: `
    delete from answers where ctid = any (array(
      select ctid from answers
       where expires_at <= now()
         and id < (rpad(lpad(to_hex((extract(epoch from now() - make_interval(secs => $1)) * 1000)::bigint), 12, '0'), 32, '0'))::uuid
       order by id limit ${ROWS_AT_ONCE} for update skip locked))
    returning 1`,
};

/** Deletes answers whose recovery window has passed. */
export async function eraseAnswers(
  pool: Pool,
  recoveryWindowS: number,
  stopping?: AbortSignal,
): Promise<void> {
  await repeatInSteps(pool, ERASE_ANSWERS, [recoveryWindowS], stopping);
}

/**
 * Number of days after which no prediction made under an ended grant is left. A prediction may end an hour after its
 * grant, and history is dropped by whole weeks.
 */
const GRANT_DAYS = TOMBSTONE_DAYS + 8;

const DELETE_EXPIRED_ROWS = [
  ['prediction_events', `recorded_at < now() - interval '${TOMBSTONE_DAYS} days'`],
  [
    'connection_attempts',
    `expires_at < now() - interval '1 day' and greatest(expires_at, code_expires_at) < now() - interval '1 day'`,
  ],
  ['erasing_grants', `ended_at < now() - interval '${GRANT_DAYS} days'`],
  ['refresh_tokens', `expires_at < now() - interval '1 day'`],
  ['ended_log_ins', `ended_at < now() - interval '2 hours'`],
  ['web_sessions', `expires_at < now()`],
  ['password_resets', `expires_at < now()`],
  ['passkey_challenges', `expires_at < now()`],
  ['email_changes', `expires_at < now()`],
  ['grant_codes', `expires_at < now() - interval '1 hour'`],
  ['grants', `last_used_at < now() - interval '${GRANT_UNUSED_DAYS} days'`],
  ['login_networks', `expires_at < now()`],
  ['erasures', `erased_at < now() - interval '${ERASURE_DAYS} days' and what <> 'statement'`],
  ['refusals', `hour < now() - interval '7 days'`],
  ['access_days', `day < current_date - ${ACCESS_DAYS}`],
  ['usage_days', `day < current_date - ${TOMBSTONE_DAYS}`],
  ['processes', `alive_until not between now() - interval '1 hour' and now() + 2 * clock_slack()`],
  ['rate_limits', `expire < (extract(epoch from now() - interval '1 hour') * 1000)::bigint`],
].map(([table, isExpired]) => ({
  name: `old_${table}_v1`,
  text: `delete from ${table} where ctid = any (array(
    select ctid from ${table} where ${isExpired} limit ${ROWS_AT_ONCE} for update skip locked)) returning 1`,
}));

/** Ids begin with a time (UUID version 7), so the primary key finds the oldest rows. */
const DELETE_OLD_ROWS = (
  [
    ['provider_calls', LEDGER_DAYS, 'true'],
    // An objection is evidence of what the person refuses.
    ['permission_decisions', TOMBSTONE_DAYS, 'objected_at is null'],
    // A key says what has been announced in its month.
    ['deliveries', DELIVERY_DAYS, `(key is null or created_at < now() - interval '${TOMBSTONE_DAYS} days')`],
  ] as const
).map(([table, days, isExpired]) => ({
  name: `old_${table}_v1`,
  text: `
    delete from ${table} where ctid = any (array(
      select ctid from ${table}
       where id < (rpad(lpad(to_hex((extract(epoch from now() - interval '${days} days') * 1000)::bigint), 12, '0'), 32, '0'))::uuid
         and ${isExpired}
       order by id limit ${ROWS_AT_ONCE}))
    returning 1`,
}));

const MAKE_WEEKS = { name: 'make_weeks_v1', text: 'select make_weeks_v1()' };

/** Creates the missing partitions of this week and the next two. */
export async function makeWeeks(pool: Pool): Promise<void> {
  await query(pool, MAKE_WEEKS, []);
}

/** Rows of apps whose units have not changed are left alone: even a look at them by `on conflict` would write. */
const COUNT_DAYS = {
  name: 'count_days_v1',
  text: `
    insert into usage_days as d (app_id, day, settled)
    select u.app_id, (now() at time zone 'UTC')::date, u.settled
      from (select distinct on (app_id) app_id, settled from usage where month = month_of(now())
             order by app_id, page desc) u
      left join usage_days o on o.app_id = u.app_id and o.day = (now() at time zone 'UTC')::date
     where u.settled > coalesce(o.settled, 0)
    on conflict (app_id, day) do update set settled = excluded.settled`,
};

const DROP_WEEKS = { name: 'drop_weeks_v1', text: `select drop_weeks_v1(${TOMBSTONE_DAYS})` };

/**
 * Deletes expired rows and old history, counts the units of the day, and creates the partitions of the next weeks. If a
 * statement fails, the others still run.
 */
export async function deleteOldHistory(pool: Pool, stopping?: AbortSignal): Promise<void> {
  const deletions = [...DELETE_EXPIRED_ROWS, ...DELETE_OLD_ROWS];
  const tasks: (() => Promise<unknown>)[] = [
    ...deletions.map((statement) => () => repeatInSteps(pool, statement, [], stopping)),
    () => makeWeeks(pool),
    () => query(pool, COUNT_DAYS, []),
    () => query(pool, DROP_WEEKS, []),
  ];
  const errors: unknown[] = [];
  for (const task of tasks) {
    if (stopping?.aborted) break;
    await task().catch((error: unknown) => errors.push(error));
  }
  if (errors.length > 0) throw new AggregateError(errors, 'not everything could be cleaned up');
}

/** Time for which one statement is repeated. A later round deletes the rest. */
const REPEAT_FOR_MS = 10_000;

function repeatInSteps(
  pool: Pool,
  statement: SqlStatement,
  values: unknown[],
  stopping: AbortSignal | undefined,
): Promise<boolean> {
  const step = async () => (await query(pool, statement, values)).length;
  return takeSteps(repeatStep(step), REPEAT_FOR_MS, stopping);
}
