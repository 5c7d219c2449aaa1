import { parseRecurrence } from './cron.ts';
import type { Env } from './env.ts';

/** When accounts with something new are synced and promoted: a cron pattern, in UTC; null: never. */
export type Recurrence = Readonly<Record<'sync' | 'promotion', string | null>>;

const EXPECTED = 'a cron pattern of five fields, or six with seconds first, or off';

export function readRecurrence(env: Env): Recurrence {
  const read = (name: string, fallback: string) => {
    const pattern = env.parsed(name, parseRecurrence, EXPECTED);
    return pattern === undefined ? fallback : pattern;
  };
  return { sync: read('SYNC_EVERY', '*/5 * * * *'), promotion: read('PROMOTE_EVERY', '*/30 * * * *') };
}
