import { randomUUID } from 'node:crypto';
import type { RecordingReceipt, Session, SessionList } from '../../shared/schemas/recording.ts';
import type { UserClient } from './account.ts';
import type { Reply } from './client.ts';
import type { System } from './system.ts';

/** Builds a valid, unique event in a new session, overridden by `part`. */
export function event<Part extends object>(part?: Part) {
  return {
    id: randomUUID(),
    session_id: randomUUID(),
    occurred_at: '2026-05-01T12:00:00Z',
    source: 'test',
    type: 'agent.prompt',
    agent: 'coder',
    prompt: 'Shall I go on?',
    ...part,
  };
}

export function post(user: UserClient, batch: unknown[] | string): Promise<Reply<RecordingReceipt>> {
  return user.request('POST', '/api/recording/events/', batch);
}

interface Page {
  session: Session;
  results: Record<string, unknown>[];
  next: string | null;
}

export const recording = {
  event: (user: UserClient, id: string): Promise<Reply<Record<string, unknown>>> =>
    user.request('GET', `/api/recording/events/${encodeURIComponent(id)}/`),
  sessions: (user: UserClient): Promise<Reply<SessionList>> =>
    user.request('GET', '/api/recording/sessions/'),
  sessionEvents: (user: UserClient, id: string, query = ''): Promise<Reply<Page>> =>
    user.request('GET', `/api/recording/sessions/${encodeURIComponent(id)}/events/${query}`),
};

export async function countOf(
  { database }: Pick<System, 'database'>,
  user: UserClient,
): Promise<{ events: number; ids: number }> {
  const { rows } = await database.pool.query<{ events: number; ids: number }>(
    `select count(*)::int as events, count(distinct id)::int as ids from recording_events where account_id = $1`,
    [user.id],
  );
  const [counts] = rows;
  if (counts === undefined) throw new Error('nothing was counted');
  return counts;
}

const ROWS_AT_ONCE = 100_000;

/** Inserts events by SQL: a third in one long session, the others in short ones of 50. */
export async function fillRecording(
  { database }: Pick<System, 'database'>,
  { id }: Pick<UserClient, 'id'>,
  events: number,
): Promise<void> {
  for (let from = 0; from < events; from += ROWS_AT_ONCE) {
    await database.pool.query(
      `insert into recording_events (account_id, id, session_id, type, occurred_at, received_at, body)
       select $1::uuid, gen_random_uuid(), $1 || case when n % 3 = 0 then '-long' else '-' || n / 75 end, 'note',
              now() - make_interval(secs => n), now(), json_build_object('text', repeat(md5(n::text), 8))
         from generate_series($2::int, $3::int) n`,
      [id, from, Math.min(from + ROWS_AT_ONCE, events) - 1],
    );
  }
  await database.pool.query(
    `insert into recording_sessions (id, account_id, started_at, source, created_at, last_arrival)
     select session_id, account_id, min(occurred_at), 'test', now(), max(arrival)
       from recording_events where account_id = $1 group by session_id, account_id`,
    [id],
  );
  await database.pool.query('vacuum analyze recording_events, recording_sessions');
}
