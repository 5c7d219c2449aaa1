import Type, { type Static } from 'typebox';
import { closed, defaulted } from './build.ts';
import { pageLimit } from './common.ts';
import { ReplyStats } from './replies.ts';

const Count = Type.Integer({ minimum: 0 });
/** Most rows of each kind that are counted. */
export const ACTIVITY_ROWS_MAX = 50_000;
const OFFSET_MAX = 14 * 60;

export const ActivityQuery = Type.Object({
  /** Today and the days before it. */
  days: pageLimit(90, 30),
  /** How far the person's clock is ahead of UTC: where their days begin. */
  utc_offset_minutes: defaulted(Type.Integer({ minimum: -OFFSET_MAX, maximum: OFFSET_MAX }), 0),
});

/** One day of an account's. */
export const ActivityDay = closed({
  date: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
  /** Predictions of that day, by their state now. */
  by_status: ReplyStats.properties.by_status,
  /** Characters of the predicted replies that were acted on or accepted. */
  characters_saved: Count,
  /** Rows of memory that were made that day and are still there. */
  facts: Count,
  episodes: Count,
  raw: Count,
  /** Requests to a language model for the account. */
  model_calls: Count,
  /** Null when one of their models has no price. */
  cost_cents: Type.Unsafe<number | null>({ type: ['number', 'null'], minimum: 0 }),
});
export type ActivityDay = Static<typeof ActivityDay>;

/** The earliest day first. */
export const ActivityResponse = closed({ days: Type.Array(ActivityDay) });
export type ActivityResponse = Static<typeof ActivityResponse>;
