import type { Pool } from 'pg';
import type { Quotas } from '../../../config/quotas.ts';
import { type ExceededQuota, quotaError } from '../../../domain/account.ts';
import type { RecordedEvent } from '../../../domain/recording.ts';
import type { Witness } from '../../../domain/witness.ts';
import { AppError } from '../../../errors/app-error.ts';
import { arraysOf } from '../../rows.ts';
import { query } from '../../statement.ts';

const RECORD_BATCH = {
  name: 'record_v1',
  text: `select accepted, foreign_places as foreign, excess
           from record_v1($1::uuid, $2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::text[], $7::text[],
                          $8::text[], $9::text, $10::int[], $11::json, $12::text, $13::boolean)`,
};

/** Longer than the server's `statement_timeout`, so that the server ends the statement first. */
const ANSWER_TIMEOUT_MS = 12_000;

/**
 * `accepted` is the number of stored events. `foreign` has the indexes of the events whose session belongs to another
 * account. All other events were duplicates, of stored events or of deleted ones.
 */
export interface RecordResult {
  accepted: number;
  foreign: number[];
}

/**
 * Stores the new events of a batch and updates their sessions, in one transaction. Throws `not_authenticated` if the
 * account is gone or disabled, and `quota_exceeded`. Does not retry after a lost connection, since the second try would
 * report the events of the first as duplicates.
 */
export async function recordBatch(
  pool: Pool,
  accountId: string,
  events: readonly RecordedEvent[],
  { witness, quotas }: { witness: Witness; quotas: Quotas },
): Promise<RecordResult> {
  const [recorded] = await query<RecordResult & { excess: ExceededQuota[] | null }>(
    pool,
    RECORD_BATCH,
    [
      accountId,
      ...arraysOf(events, 'id', 'sessionId', 'type', 'occurredAt', 'source', 'sourceDetail', 'project'),
      // Sends bodies as lines of JSON: in an array, every quotation mark would have to be escaped.
      events.map(({ body }) => body).join('\n'),
      events.map(({ body }) => Buffer.byteLength(body)),
      JSON.stringify(quotas),
      witness.name,
      !witness.vouches,
    ],
    { withinMs: ANSWER_TIMEOUT_MS },
  );
  if (recorded === undefined) throw new AppError('not_authenticated');
  const { excess, ...rest } = recorded;
  if (excess !== null) throw quotaError(excess);
  return rest;
}
