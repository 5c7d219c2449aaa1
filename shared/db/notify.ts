import type { Pool } from 'pg';
import { query } from './statement.ts';

const NOTIFY = {
  name: 'notify_v1',
  text: 'select pg_notify(channel, payload) from unnest($1::text[], $2::text[]) as w (channel, payload)',
};

/** Sends messages to all listeners, in one statement, because each NOTIFY takes a database-wide lock. */
export async function notify(
  pool: Pool,
  messages: readonly { channel: string; payload: string }[],
): Promise<void> {
  const channels = messages.map(({ channel }) => channel);
  const payloads = messages.map(({ payload }) => payload);
  await query(pool, NOTIFY, [channels, payloads]);
}
