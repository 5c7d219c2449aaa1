import Type, { type Static } from 'typebox';
import { closedObject, withDefault } from './build.ts';
import { Count, NullableShare, pageLimit } from './common.ts';
import { ReplyStats } from './reply-figures.ts';

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

/** What the person was asked to check in these days, and how often Forecue would have been right. */
export const Checks = closedObject({
  asked: Count,
  answered: Count,
  right: Count,
  precision: NullableShare,
  /** 95 % interval of the precision (Clopper and Pearson 1934). */
  precision_low: NullableShare,
  precision_high: NullableShare,
});
export type Checks = Static<typeof Checks>;

/** What became of suggestions in the apps that the person connected. */
const Suggestions = closedObject({
  accepted: Count,
  dismissed: Count,
  /** Mean share of accepted suggestions that was still there when the message was sent; null if no app said. */
  retained: NullableShare,
});

/** The earliest first. */
export const ActivityResponse = closedObject({
  days: Type.Array(ActivityDay),
  /** Precision of what is decided for the person, from what they were asked all the same. */
  checks: closedObject({ replies: Checks, permissions: Checks }),
  suggestions: Suggestions,
  /** Tokens of models used today (UTC). */
  tokens_today: Count,
  /** Limit on `tokens_today`; null if there is none. */
  tokens_quota: Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 0 }),
});
export type ActivityResponse = Static<typeof ActivityResponse>;
