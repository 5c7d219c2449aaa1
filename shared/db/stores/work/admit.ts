import type { Pool } from 'pg';
import type { Outcome } from '../../../domain/work.ts';
import type { ErrorCode } from '../../../errors/catalogue.ts';
import { query } from '../../statement.ts';
import type { Subject } from './complete.ts';
import { outcomeOf, type RequestRow, requestJsonSql } from './find.ts';

/** A validated request that asks to be admitted. Fingerprints are HMACs under the party's key. */
export interface Admission<Facts = unknown> {
  /** Id of this call, and of the work if that is new. By it, a repeated statement recognizes its own effect. */
  id: string;
  party: string;
  /** The request's `requestKey`. */
  key: string;
  fingerprint: Buffer;
  /** User of the app; the connection must be this user's. */
  userId: string;
  connectionId: string | null;
  line: Line | null;
  /** True to join the same request's live work, even while other callers wait for it (`Prefer: wait`). */
  wait: boolean;
  cancelOnDisconnect: boolean;
  facts: Facts;
  /** Input of the handler, as JSON. */
  input: string;
}

/** Place of a request in its line. Only the latest request of a line counts, such as the latest revision of a draft. */
export interface Line {
  key: string;
  revision: number;
  textHash: Buffer;
  /** True if the request supersedes earlier requests of its line, and later ones supersede it. */
  supersedable: boolean;
}

export interface AdmissionTerms {
  kind: string;
  process: string;
  timeoutMs: number;
  recoveryWindowS: number;
  outlivesCallers: boolean;
  sandboxUnits: number;
  /** Null if the kind is not charged. */
  unitPriceMicrocents: number | null;
}

/**
 * `attached`: the same request is live. `ended`: the history has the answer. Any other value is the code of a refusal,
 * which stored nothing; as a thrown error, it would fail the other requests of the batch.
 */
export type AdmissionDecision =
  | 'admitted'
  | 'attached'
  | 'ended'
  | Extract<
      ErrorCode,
      | 'not_authenticated'
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

export interface AdmissionResult {
  decision: AdmissionDecision;
  id: string;
  attempt: number;
  /** Milliseconds to the attempt's deadline, by the database's clock. */
  leftMs: number;
  superseded: string[];
  /** Number of queued pieces of the party and kind; null if no limit is set. */
  queued: number | null;
  /** Only of a request that has ended. */
  outcome?: Outcome;
}

const ADMIT = {
  name: 'admit_v2',
  text: `select outcome as decision, a.id, a.attempt, left_ms as "leftMs", superseded, queued,
                (${requestJsonSql('($12::uuid[])[a.place + 1]')} and a.outcome = 'ended') as found
           from admit_v1($1, $2::uuid, $3::uuid, $4::json, $5::text[], $6::uuid[], $7::int, $8::int, $9::int, $10::int,
                  $11::bigint) a`,
};

type Row = Omit<AdmissionResult, 'outcome'> & { found: RequestRow | null };

/**
 * Admits one party's requests, in one transaction and in this order. Refuses a request as `overloaded` if its party has
 * `maxQueued` queued pieces of its kind already. A cap is never exceeded, and a request never runs twice at the same
 * time.
 */
export async function admit(
  pool: Pool,
  admissions: readonly Admission[],
  terms: AdmissionTerms,
  maxQueued = Number.POSITIVE_INFINITY,
): Promise<AdmissionResult[]> {
  const [first] = admissions;
  if (first === undefined) return [];
  const connections = admissions.flatMap(({ connectionId }) => connectionId ?? []);
  const rows = await query<Row>(pool, ADMIT, [
    terms.kind,
    first.party,
    terms.process,
    JSON.stringify(admissions.map((admission, place) => itemOf(admission, place, terms))),
    // Sends inputs beside the JSON: inside it, every quote in a text would be escaped, then unescaped.
    admissions.map(({ input }) => input),
    [...new Set(connections)],
    terms.timeoutMs,
    terms.recoveryWindowS,
    maxQueued === Number.POSITIVE_INFINITY ? null : maxQueued,
    terms.sandboxUnits,
    terms.unitPriceMicrocents,
    admissions.map(({ key }) => key),
  ]);
  return rows.map(({ found, ...admitted }) =>
    found ? { ...admitted, outcome: outcomeOf(found) } : admitted,
  );
}

function itemOf(admission: Admission, place: number, { outlivesCallers }: AdmissionTerms) {
  const { line } = admission;
  return {
    place,
    id: admission.id,
    key: admission.key,
    fingerprint: bytea(admission.fingerprint),
    user_id: admission.userId,
    connection_id: admission.connectionId,
    line: line?.key,
    revision: line?.revision,
    text_hash: line === null ? undefined : bytea(line.textHash),
    supersedable: line?.supersedable ?? false,
    wait: admission.wait,
    cancel_on_disconnect: admission.cancelOnDisconnect,
    outlives_callers: outlivesCallers,
    facts: JSON.stringify(admission.facts),
  };
}

function bytea(bytes: Buffer): string {
  return `\\x${bytes.toString('hex')}`;
}

const DETACH = {
  name: 'detach_v3',
  text: 'select key, id, party, month from detach_v2($1::uuid[], $2::uuid[], $3::uuid)',
};

/** A request that none of an ingress's callers waits for any more. */
export interface Detachment {
  party: string;
  key: string;
  /** True if the connection of the last of these callers closed; false if the caller was answered. */
  disconnected: boolean;
}

/**
 * Records that no caller of this ingress waits for the requests any more. Returns, in the place of each, the work to
 * cancel: no ingress waits for it now, its last caller disconnected, and its latest caller asked for cancelling in that
 * case.
 */
export async function detach(
  pool: Pool,
  detachments: readonly Detachment[],
  process: string,
): Promise<(Subject | undefined)[]> {
  const keys = detachments.map(({ key }) => key);
  const disconnectedKeys = detachments.flatMap(({ key, disconnected }) => (disconnected ? key : []));
  const unwanted = await query<Subject & { key: string }>(pool, DETACH, [keys, disconnectedKeys, process]);
  return keys.map((key) => unwanted.find((one) => one.key === key));
}
