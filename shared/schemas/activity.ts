import Type, { type Static } from 'typebox';
import { closedObject, withDefault } from './build.ts';
import { Count, pageLimit } from './common.ts';
import { ReplyStats } from './replies.ts';

/** Maximum number of rows counted of each: predictions, facts, episodes, raw rows and model calls. */
export const ACTIVITY_ROWS_MAX = 50_000;
const UTC_OFFSET_MINUTES_MAX = 14 * 60;

export const ActivityQuery = Type.Object({
  /** Number of days, today included. */
  days: pageLimit(90, 30),
  /** Minutes by which the person's time zone is ahead of UTC. It decides when the person's days begin. */
  utc_offset_minutes: withDefault(
    Type.Integer({ minimum: -UTC_OFFSET_MINUTES_MAX, maximum: UTC_OFFSET_MINUTES_MAX }),
    0,
  ),
});

export const ActivityDay = closedObject({
  date: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
  /** Number of the day's predictions, by their present status. */
  by_status: ReplyStats.properties.by_status,
  /** Number of characters in the predicted replies that were acted on or accepted. */
  characters_saved: Count,
  /** Number of memory rows that were created on the day and still exist. */
  facts: Count,
  episodes: Count,
  raw: Count,
  model_calls: Count,
  /** Estimated cost of the model calls; null if one of the models has no price. */
  cost_cents: Type.Unsafe<number | null>({ type: ['number', 'null'], minimum: 0 }),
});
export type ActivityDay = Static<typeof ActivityDay>;

/** The earliest first. */
export const ActivityResponse = closedObject({
  days: Type.Array(ActivityDay),
  /** Tokens of models used today (UTC). */
  tokens_today: Count,
  /** Limit on `tokens_today`; null if there is none. */
  tokens_quota: Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 0 }),
});
export type ActivityResponse = Static<typeof ActivityResponse>;
