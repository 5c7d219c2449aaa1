import type { EntityManager } from '@mikro-orm/postgresql';
import { MICROCENTS_PER_CENT } from '../../domain/usage.ts';
import type { ActivityDay } from '../../schemas/activity.ts';
import { REPLY_STATES } from '../../schemas/replies.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** The day of a time where the clock is so many minutes ahead of UTC. */
const DAY = (column: string) =>
  `to_char((${column} at time zone 'UTC') + make_interval(mins => ?), 'YYYY-MM-DD')`;

interface Sum {
  date: string;
  name: string;
  count: number;
  characters: number;
  microcents: number | null;
}

const counted = (table: string, where = '') => `
  select ${DAY('created_at')}, '${table}', count(*)::int, 0::float8, 0::float8
    from ${table} where account_id = ? and created_at >= ? ${where} group by 1`;

const SUMS = `
  select ${DAY('created_at')} as date, status as name, count(*)::int as count,
         coalesce(sum(char_length(response)) filter (where status in ('auto', 'accepted')), 0)::float8 as characters,
         0::float8 as microcents
    from replies where account_id = ? and created_at >= ? group by 1, 2
   union all ${counted('facts', 'and revision_of is null')}
   union all ${counted('episodes')}
   union all ${counted('raw_memories')}
   union all
  select ${DAY('at')}, 'calls', count(*)::int, 0,
         case when bool_and(cost_microcents is not null) then sum(cost_microcents) end::float8
    from provider_calls where account_id = ? and at >= ? group by 1`;

/** Counts what happened on each of the last days, the earliest first. */
export async function readActivity(
  em: EntityManager,
  accountId: string,
  { days, utcOffsetMinutes, now }: { days: number; utcOffsetMinutes: number; now: number },
): Promise<ActivityDay[]> {
  const localMs = now + utcOffsetMinutes * 60_000;
  const firstMs = Math.floor(localMs / DAY_MS - days + 1) * DAY_MS;
  const since = new Date(firstMs - utcOffsetMinutes * 60_000);
  const each = [utcOffsetMinutes, accountId, since];
  const sums = await em.execute<Sum[]>(SUMS, [...each, ...each, ...each, ...each, ...each]);
  const byDay = Map.groupBy(sums, ({ date }) => date);
  return Array.from({ length: days }, (_, at) => {
    const date = new Date(firstMs + at * DAY_MS).toISOString().slice(0, 10);
    const byName = new Map(byDay.get(date)?.map((sum) => [sum.name, sum]));
    const count = (name: string) => byName.get(name)?.count ?? 0;
    const calls = byName.get('calls') ?? { count: 0, microcents: 0 };
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
