import type { EntityManager } from '@mikro-orm/postgresql';
import { MICROCENTS_PER_CENT } from '../../domain/usage.ts';
import { ACTIVITY_ROWS_MAX, type ActivityDay } from '../../schemas/activity.ts';
import { REPLY_STATES } from '../../schemas/replies.ts';

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
  newestRows('replies', { name: 'status', columns: `${SAVED_CHARACTERS} as characters, 0 as microcents` }),
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

/** Counts what happened on each day, earliest first, among the newest `ACTIVITY_ROWS_MAX` rows of each table. */
export async function readActivity(
  em: EntityManager,
  accountId: string,
  { days, utcOffsetMinutes, now }: { days: number; utcOffsetMinutes: number; now: number },
): Promise<ActivityDay[]> {
  const localMs = now + utcOffsetMinutes * 60_000;
  const firstMs = Math.floor(localMs / DAY_MS - days + 1) * DAY_MS;
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
