import type { Pool } from 'pg';
import type { ErrorCode } from '../../../errors/catalogue.ts';
import { query } from '../../statement.ts';

/** A validated request on its way in. `fingerprint` and `textHash` are HMACs under the app's key. */
export interface Admission {
  /** The id that the prediction gets if it is new; a repetition of the same admission is recognised by it. */
  id: string;
  appId: string;
  requestId: string;
  userId: string;
  sessionId: string;
  mode: string;
  connectionId: string | null;
  fingerprint: Buffer;
  draftRevision: number;
  textHash: Buffer;
  contextRevision: string;
  /** The canonical body. */
  request: string;
  /** Whether to wait with others for a prediction that runs (`Prefer: wait`). */
  wait: boolean;
  cancelOnDisconnect: boolean;
  /** Whether the queue is so long that a new run would not be answered in time. */
  overloaded: boolean;
}

/** What holds for every admission of this process. `process` is the ingress whose caller will wait. */
export interface AdmissionTerms {
  process: string;
  timeoutMs: number;
  recoveryWindowS: number;
  sandboxUnits: number;
  unitPriceMicrocents: number;
}

/**
 * `admitted`: to be queued. `attached`: it runs, wait for it. `ended`: the row has the answer. Else the code of a
 * refusal, which left nothing behind.
 */
export type AdmissionOutcome =
  | 'admitted'
  | 'attached'
  | 'ended'
  | Extract<
      ErrorCode,
      | 'not_found'
      | 'access_denied'
      | 'connection_revoked'
      | 'recovery_window_expired'
      | 'idempotency_conflict'
      | 'request_in_flight'
      | 'context_revision_conflict'
      | 'overloaded'
      | 'sandbox_exhausted'
      | 'monthly_cap_reached'
    >;

export interface Admitted {
  outcome: AdmissionOutcome;
  predictionId: string;
  attempt: number;
  /** Milliseconds to the attempt's deadline, by the database's clock. */
  leftMs: number;
  /** Its place in the queue, by which apps take turns. */
  turn: number;
  /** Predictions that this admission cancelled: their callers and workers want to be woken. */
  superseded: string[];
}

const PARAMETERS = '($1::json, $2::uuid, $3::int, $4::int, $5::int, $6::bigint)';
const ADMIT = { name: 'admit_v1', text: `select * from admit_v1 ${PARAMETERS}` };
/** Looks at connections first. */
const ADMIT_CONNECTED = { name: 'admit_v2', text: `select * from admit_v2 ${PARAMETERS}` };

interface AdmitRow {
  place: number;
  outcome: AdmissionOutcome;
  prediction_id: string;
  attempt: number;
  left_ms: number;
  turn: number;
  superseded: string[];
}

/**
 * The admission of a batch, in one transaction: connection, idempotency, stale context, superseding, units, row.
 * Outputs stand in the order of the inputs. Promise: a cap is never overshot, a request id never runs twice at once.
 */
export async function admit(pool: Pool, admissions: Admission[], terms: AdmissionTerms): Promise<Admitted[]> {
  const batch = admissions.map((admission, place) => ({
    place,
    id: admission.id,
    app_id: admission.appId,
    request_id: admission.requestId,
    user_id: admission.userId,
    session_id: admission.sessionId,
    mode: admission.mode,
    connection_id: admission.connectionId,
    fingerprint: bytea(admission.fingerprint),
    draft_revision: admission.draftRevision,
    text_hash: bytea(admission.textHash),
    context_revision: admission.contextRevision,
    request: admission.request,
    wait: admission.wait,
    cancel_on_disconnect: admission.cancelOnDisconnect,
    overloaded: admission.overloaded,
  }));
  const connected = admissions.some(({ connectionId }) => connectionId !== null);
  const rows = await query<AdmitRow>(pool, connected ? ADMIT_CONNECTED : ADMIT, [
    JSON.stringify(batch),
    terms.process,
    terms.timeoutMs,
    terms.recoveryWindowS,
    terms.sandboxUnits,
    terms.unitPriceMicrocents,
  ]);
  const byPlace = new Map(rows.map((row) => [row.place, row]));
  return admissions.map((_, place) => {
    const row = byPlace.get(place);
    if (row === undefined) throw new Error('an admission was left out');
    return {
      outcome: row.outcome,
      predictionId: row.prediction_id,
      attempt: row.attempt,
      leftMs: row.left_ms,
      turn: row.turn,
      superseded: row.superseded,
    };
  });
}

function bytea(bytes: Buffer): string {
  return `\\x${bytes.toString('hex')}`;
}
