import type { Pool } from 'pg';
import type { TokenQuotas } from '../../../config/quotas.ts';
import type { Outcome } from '../../../domain/work.ts';
import type { ErrorCode } from '../../../errors/catalogue.ts';
import { type Queryable, query } from '../../statement.ts';
import type { WorkRef } from './complete.ts';
import { outcomeOf, type RequestRow, requestJsonSql } from './find.ts';

/**
 * A validated request that asks to be admitted. `party` is the app or account that sent it. `fingerprint` is an HMAC of
 * the request under the party's key.
 */
export interface Admission<Facts = unknown> {
  /**
   * Id of this call, and of the work if the call creates it. A repeated statement recognizes by this id what its first
   * try stored.
   */
  id: string;
  party: string;
  /** The request's `requestKey`. */
  key: string;
  fingerprint: Buffer;
  /** Id of the app's user. The connection must belong to this user. */
  userId: string;
  connectionId: string | null;
  line: RequestLine | null;
  /** True (`Prefer: wait`) to join the work of an identical request even if other callers wait for it. */
  wait: boolean;
  cancelOnDisconnect: boolean;
  facts: Facts;
  /** Input of the handler, as JSON. */
  input: string;
}

/**
 * Position of a request in a line. A line is a series of requests of which only the latest counts, such as the
 * revisions of a draft.
 */
export interface RequestLine {
  key: string;
  revision: number;
  textHash: Buffer;
  /** True if the request supersedes earlier requests of its line, and can be superseded by later ones. */
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
  /** By default, no quota. */
  tokenQuotas?: TokenQuotas | undefined;
}

/**
 * `attached`: the request joined the live work of an identical request. `ended`: the history has the outcome of an
 * identical request. All other values except `admitted` are error codes of refused requests, for which nothing was
 * stored; `service_unavailable` means that another transaction has locked the request's connection. They are not thrown, because an error would fail the other requests of the batch too.
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
      | 'quota_exceeded'
      | 'sandbox_exhausted'
      | 'monthly_cap_reached'
      | 'service_unavailable'
    >;

export interface AdmissionResult {
  decision: AdmissionDecision;
  id: string;
  attempt: number;
  /** Milliseconds to the attempt's deadline, or of `quota_exceeded` to the end of the day, by the database's clock. */
  leftMs: number;
  superseded: string[];
  /** True if this very call stored the work; false if an earlier try had stored it. */
  stored: boolean;
  /** Set only if `decision` is `ended`. */
  outcome?: Outcome;
}

const ADMIT = {
  name: 'admit_v1',
  text: `select outcome as decision, a.id, a.attempt, left_ms as "leftMs", superseded, stored,
                (${requestJsonSql('($13::uuid[])[a.place + 1]')} and a.outcome = 'ended') as found
           from admit_v1($1, $2::uuid, $3::uuid, $4::json, $5::text[], $6::uuid[], $7::int, $8::int, $9::boolean, $10, $11::int,
                  $12::bigint, $14::bigint, $15::bigint) a`,
};

/** How work may be refused as `overloaded`. */
export interface Shedding {
  /** The kind's pool, if it seemed to have no worker or to be stalled. Then the admission reads its state again. */
  suspectPool?: string | undefined;
}

type Row = Omit<AdmissionResult, 'outcome'> & { found: RequestRow | null };

/**
 * Admits one party's requests in the given order, in one transaction. Returns the results in the same order. Without
 * `shedding`, refuses none as `overloaded`. Never exceeds a monthly cap, and never lets a request run twice at the same
 * time. Leaves rows of the kind's own (`Kind.rows`) to the caller.
 */
export async function admit(
  db: Queryable,
  admissions: readonly Admission[],
  terms: AdmissionTerms,
  shedding?: Shedding,
): Promise<AdmissionResult[]> {
  const [first] = admissions;
  if (first === undefined) return [];
  const connections = admissions.flatMap(({ connectionId }) => connectionId ?? []);
  const rows = await query<Row>(db, ADMIT, [
    terms.kind,
    first.party,
    terms.process,
    JSON.stringify(admissions.map((admission, place) => admitInputOf(admission, place, terms))),
    // Sends inputs beside the JSON: inside it, every quote in a text would be escaped, then unescaped.
    admissions.map(({ input }) => input),
    [...new Set(connections)],
    terms.timeoutMs,
    terms.recoveryWindowS,
    shedding !== undefined,
    shedding?.suspectPool ?? null,
    terms.sandboxUnits,
    terms.unitPriceMicrocents,
    admissions.map(({ key }) => key),
    terms.tokenQuotas?.account ?? null,
    terms.tokenQuotas?.allAccounts ?? null,
  ]);
  return rows.map(({ found, ...admitted }) =>
    found ? { ...admitted, outcome: outcomeOf(found) } : admitted,
  );
}

function admitInputOf(admission: Admission, place: number, { outlivesCallers }: AdmissionTerms) {
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
  name: 'detach_v1',
  text: 'select key, id, party, month from detach_v1($1::uuid[], $2::uuid[], $3::uuid)',
};

/** A request for which no caller of this ingress waits any more. */
export interface Detachment {
  party: string;
  key: string;
  /** True if the last caller disconnected; false if that caller was answered. */
  disconnected: boolean;
}

/**
 * Records that no caller of this ingress waits for the requests any more. Returns, for each request, its work if that
 * has to be cancelled: no ingress waits for it, the last caller to leave disconnected, and the last caller to join
 * asked for the work to be cancelled in that case.
 */
export async function detach(
  pool: Pool,
  detachments: readonly Detachment[],
  process: string,
): Promise<(Omit<WorkRef, 'kind'> | undefined)[]> {
  const keys = detachments.map(({ key }) => key);
  const disconnectedKeys = detachments.flatMap(({ key, disconnected }) => (disconnected ? key : []));
  const unwanted = await query<Omit<WorkRef, 'kind'> & { key: string }>(pool, DETACH, [
    keys,
    disconnectedKeys,
    process,
  ]);
  return keys.map((key) => unwanted.find((one) => one.key === key));
}
