import type { Pool } from 'pg';
import type { Quotas } from '../../../config/config.ts';
import { type Excess, quotaExceeded } from '../../../domain/account.ts';
import type { RecordedEvent } from '../../../domain/recording.ts';
import { AppError } from '../../../errors/app-error.ts';
import { query } from '../../statement.ts';

const RECORD = {
  name: 'record_v2',
  text: `select accepted, foreign_places as foreign, excess
           from record_v2($1::uuid, $2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::text[], $7::text[],
                          $8::text, $9::int[], $10::json)`,
};

/** Longer than the server's `statement_timeout`, so that the server ends the statement. */
const ANSWER_WITHIN_MS = 12_000;

/**
 * The number of events that were stored, and the indexes of those whose session is another account's. All others had
 * been stored before.
 */
export interface Recorded {
  accepted: number;
  foreign: number[];
}

/**
 * Stores the events of a batch that are new, with what they do to their sessions, in one transaction and one round
 * trip. Throws `not_authenticated` when the account is gone or disabled, `quota_exceeded` when what is new does not fit
 * into the quotas; then nothing was stored.
 *
 * A lost connection is the caller's to try again: we would find our own events, and call them duplicates.
 */
export async function recordBatch(
  pool: Pool,
  accountId: string,
  events: readonly RecordedEvent[],
  quotas: Quotas,
): Promise<Recorded> {
  const [recorded] = await query<Recorded & { excess: Excess[] | null }>(
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
      // One JSON line each: in an array every quote would be escaped, then unescaped.
      events.map(({ body }) => body).join('\n'),
      events.map(({ body }) => Buffer.byteLength(body)),
      JSON.stringify(quotas),
    ],
    { withinMs: ANSWER_WITHIN_MS },
  );
  if (recorded === undefined) throw new AppError('not_authenticated');
  const { excess, ...rest } = recorded;
  if (excess !== null) throw quotaExceeded(excess);
  return rest;
}
