import type { Pool } from 'pg';
import type { RecordedEvent } from '../../../domain/recording.ts';
import { query } from '../../statement.ts';

const RECORD = {
  name: 'record_v1',
  text: `select accepted, foreign_places as foreign
           from record_v1($1::uuid, $2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::text[], $7::text[], $8::text)`,
};

/** Longer than the server gives a statement, so that it is the server that ends it. */
const ANSWER_WITHIN_MS = 12_000;

/** How many events were stored, and the places of those whose session is another account's. The rest were there before. */
export interface Recorded {
  accepted: number;
  foreign: number[];
}

/**
 * Stores the events of a batch that are new, with what they do to their sessions, in one transaction and one round
 * trip. Undefined when the account is gone or disabled; then nothing was stored.
 *
 * A lost connection is the caller's to try again: we would find our own events, and call them duplicates.
 */
export async function recordBatch(
  pool: Pool,
  accountId: string,
  events: readonly RecordedEvent[],
): Promise<Recorded | undefined> {
  const [recorded] = await query<Recorded>(
    pool,
    RECORD,
    [
      accountId,
      events.map(({ id }) => id),
      events.map(({ sessionId }) => sessionId),
      events.map(({ type }) => type),
      events.map(({ occurredAt }) => occurredAt),
      events.map(({ source }) => source),
      events.map(({ sourceDetail }) => sourceDetail),
      // JSON of one line each: an array would have every quote in them escaped, and unescaped again.
      events.map(({ body }) => body).join('\n'),
    ],
    { withinMs: ANSWER_WITHIN_MS },
  );
  return recorded;
}
