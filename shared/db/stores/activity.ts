import type { EntityManager } from '@mikro-orm/postgresql';
import { exactInterval } from '../../domain/exact-interval.ts';
import { MICROCENTS_PER_CENT } from '../../domain/usage.ts';
import {
  ACTIVITY_ROWS_MAX,
  type ActivityDay,
  type ActivityResponse,
  type Checks,
} from '../../schemas/activity.ts';
import { REPLY_STATES } from '../../schemas/replies.ts';
import { oneRow } from '../rows.ts';
import { type CheckCounts, countPermissionChecks, countReplyChecks } from './decisions.ts';
import { IS_COUNTED } from './replies/rows.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

interface Sum {
  /** Beginning of the local day, in Unix milliseconds. */
  dayMs: number;
  name: string;
  count: number;
  characters: number;
  microcents: number | null;
}

/** Selects an account's newest rows. An index has this order, so `limit` bounds the cost. */
const newestRows = (
  table: string,
  { at = 'created_at', name = `'${table}'`, columns = '0, 0', where = '' } = {},
) => `
  (select ${name} as name, ${at} as at, ${columns} from ${table}
    where account_id = ? and ${at} >= ? ${where} order by ${at} desc limit ${ACTIVITY_ROWS_MAX})`;

const SAVED_CHARACTERS = `case when status in ('auto', 'accepted') then char_length(response) else 0 end`;
const NEWEST_ROWS = [
  newestRows('replies', {
    name: 'status',
    columns: `${SAVED_CHARACTERS} as characters, 0 as microcents`,
    where: `and ${IS_COUNTED}`,
  }),
  newestRows('facts', { where: 'and revision_of is null' }),
  newestRows('episodes'),
  newestRows('raw_memories'),
  newestRows('provider_calls', { at: 'at', columns: '0, cost_microcents' }),
];

const SELECT_SUMS = `
  select (extract(epoch from day) * 1000)::float8 as "dayMs", name, count(*)::int as count,
         sum(characters)::float8 as characters,
         case when bool_and(microcents is not null) then sum(microcents) end::float8 as microcents
    from (select date_bin('1 day', at, ?) as day, r.* from (${NEWEST_ROWS.join(' union all ')}) r) r group by day, name`;

interface ActivityPeriod {
  days: number;
  utcOffsetMinutes: number;
  now: number;
}

/** Returns the beginning of the first local day, in milliseconds of local time. */
function firstDayMs({ days, utcOffsetMinutes, now }: ActivityPeriod): number {
  return Math.floor((now + utcOffsetMinutes * 60_000) / DAY_MS - days + 1) * DAY_MS;
}

/** Counts what the person was asked to check, since the beginning of the first day. */
export async function readChecks(em: EntityManager, accountId: string, period: ActivityPeriod) {
  const since = new Date(firstDayMs(period) - period.utcOffsetMinutes * 60_000);
  return {
    replies: checksOf(await countReplyChecks(em, accountId, since)),
    permissions: checksOf(await countPermissionChecks(em, accountId, since)),
  };
}

function checksOf({ asked, answered, right }: CheckCounts): Checks {
  if (answered === 0)
    return { asked, answered, right, precision: null, precision_low: null, precision_high: null };
  const { low, high } = exactInterval(right, answered);
  return { asked, answered, right, precision: right / answered, precision_low: low, precision_high: high };
}

/** Counts what happened on each day, earliest first, among the newest `ACTIVITY_ROWS_MAX` rows of each table. */
export async function readActivity(
  em: EntityManager,
  accountId: string,
  { days, utcOffsetMinutes, now }: ActivityPeriod,
): Promise<ActivityDay[]> {
  const firstMs = firstDayMs({ days, utcOffsetMinutes, now });
  const since = new Date(firstMs - utcOffsetMinutes * 60_000);
  const sums = await em.execute<Sum[]>(SELECT_SUMS, [
    since,
    ...NEWEST_ROWS.flatMap(() => [accountId, since]),
  ]);
  const byDay = Map.groupBy(sums, ({ dayMs }) => dayMs);
  return Array.from({ length: days }, (_, day) => {
    const date = new Date(firstMs + day * DAY_MS).toISOString().slice(0, 10);
    const byName = new Map(byDay.get(since.getTime() + day * DAY_MS)?.map((sum) => [sum.name, sum]));
    const count = (name: string) => byName.get(name)?.count ?? 0;
    const calls = byName.get('provider_calls') ?? { count: 0, microcents: 0 };
    return {
      date,
      by_status: Object.fromEntries(
        REPLY_STATES.map((name) => [name, count(name)]),
      ) as ActivityDay['by_status'],
      characters_saved: REPLY_STATES.reduce((sum, name) => sum + (byName.get(name)?.characters ?? 0), 0),
      facts: count('facts'),
      episodes: count('episodes'),
      raw: count('raw_memories'),
      model_calls: calls.count,
      cost_cents: calls.microcents === null ? null : calls.microcents / MICROCENTS_PER_CENT,
    };
  });
}

const SELECT_SUGGESTIONS = `
  select count(*) filter (where e.kind = 'accepted')::int as accepted,
         count(*) filter (where e.kind = 'dismissed')::int as dismissed, avg(e.retained)::float8 as retained
    from connections c
   cross join lateral (
     select kind, retained from prediction_events
      where app_id = c.app_id and user_id = c.user_id and recorded_at >= ?
      order by recorded_at desc limit ${ACTIVITY_ROWS_MAX}) e
   where c.account_id = ?`;

/** Counts what became of suggestions in the apps that a person connected. */
export function readSuggestions(
  em: EntityManager,
  accountId: string,
  { days, now }: { days: number; now: number },
): Promise<ActivityResponse['suggestions']> {
  const since = new Date(now - days * DAY_MS);
  return oneRow(em.execute<ActivityResponse['suggestions'][]>(SELECT_SUGGESTIONS, [since, accountId]));
}
