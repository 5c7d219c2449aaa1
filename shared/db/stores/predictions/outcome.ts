import type { Pool } from 'pg';
import type { Outcome } from '../../../domain/prediction.ts';
import { query } from '../../statement.ts';

const COLUMNS = `
  p.id, p.app_id as "appId", p.month, p.request_id as "requestId", p.user_id as "userId", p.session_id as "sessionId",
  p.connection_id as "connectionId", p.draft_revision::float8 as "draftRevision",
  p.context_revision as "contextRevision", p.profile_revision as "profileRevision",
  p.grant_revision as "grantRevision", p.state, p.code, p.error_source as "errorSource", p.units,
  p.context_truncated as "contextTruncated", extract(epoch from p.expires_at)::float8 as "expiresAt",
  p.erased, coalesce(t.answer, '') as completion,
  (extract(epoch from p.started_at - p.admitted_at) * 1000)::float8 as "queueMs", p.provider_ms as "providerMs"`;

const ENDED = {
  name: 'ended_v1',
  text: `select ${COLUMNS} from predictions p left join prediction_texts t on t.prediction_id = p.id
          where p.id = any ($1::uuid[]) and p.state not in ('queued', 'running')`,
};

/** The outcomes of those of the ids that have ended; `withinMs` gives up after so long. */
export function endedAmong(pool: Pool, ids: string[], options?: { withinMs: number }): Promise<Outcome[]> {
  return query<Outcome>(pool, ENDED, [ids], options);
}

/** The outcome of each that has ended, in the order of the ids; undefined for one that has not. */
export async function outcomesOf(pool: Pool, ids: string[]): Promise<(Outcome | undefined)[]> {
  const byId = new Map((await endedAmong(pool, ids)).map((outcome) => [outcome.id, outcome]));
  return ids.map((id) => byId.get(id));
}

const BY_REQUEST = {
  name: 'by_request_v1',
  text: `select ${COLUMNS} from predictions p left join prediction_texts t on t.prediction_id = p.id
          where p.app_id = $1::uuid and p.request_id = $2`,
};

/** An app's prediction by the id that the app gave it, whatever its state. */
export async function findByRequest(
  pool: Pool,
  appId: string,
  requestId: string,
): Promise<Outcome | undefined> {
  const [outcome] = await query<Outcome>(pool, BY_REQUEST, [appId, requestId]);
  return outcome;
}
