import { getNextMillis } from 'bullmq';
import type { Env } from './env.ts';
import type { SettingName } from './settings.ts';

/** Numbers, ranges, steps and lists, or names of days and months. */
const CRON_FIELD = /^([\d*,/-]+|[a-z]{3}([-,][a-z]{3})*)$/i;

/**
 * Returns null for `off`; undefined if the value is no pattern of five or six fields, or names a time that never comes.
 */
function parseRecurrence(pattern: string): string | null | undefined {
  if (pattern === 'off') return null;
  const fields = pattern.split(/\s+/);
  // BullMQ's parser fills in missing fields, and accepts `H`, whose meaning differs between processes.
  if (fields.length < 5 || fields.length > 6 || !fields.every((field) => CRON_FIELD.test(field)))
    return undefined;
  try {
    return nextTick(pattern, Date.now()) === undefined ? undefined : pattern;
  } catch {
    return undefined;
  }
}

/** Returns the first tick, in UTC, after a time in Unix milliseconds; undefined if there is none. */
export function nextTick(pattern: string, after: number): number | undefined {
  return getNextMillis(after, { pattern, tz: 'UTC' });
}

/** Cron patterns in UTC; null means never. */
export type Recurrence = Readonly<Record<'sync' | 'promotion', string | null>>;

const PATTERN_FORMAT = 'a cron pattern of five fields, or six with seconds first, or off';

export function readRecurrence(env: Env): Recurrence {
  const read = (name: SettingName, fallback: string) => {
    const pattern = env.parsed(name, parseRecurrence, PATTERN_FORMAT);
    return pattern === undefined ? fallback : pattern;
  };
  return { sync: read('SYNC_EVERY', '*/5 * * * *'), promotion: read('PROMOTE_EVERY', '*/30 * * * *') };
}
