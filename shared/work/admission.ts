import type { EntityManager } from '@mikro-orm/postgresql';
import { type Connections, repeatableTransaction } from '../db/statement.ts';
import {
  type Admission,
  type AdmissionResult,
  type AdmissionTerms,
  admit,
  type Shedding,
} from '../db/stores/work/admit.ts';
import { requestKey } from '../domain/work.ts';
import { newId } from '../ids.ts';
import { canonicalJson, fingerprint } from '../security/fingerprint.ts';
import type { Kind } from './kind.ts';

interface ProcessTerms
  extends Pick<AdmissionTerms, 'process' | 'timeoutMs' | 'recoveryWindowS' | 'tokenQuotas'> {
  /** Needed only by processes that admit charged work. */
  units?: Pick<AdmissionTerms, 'sandboxUnits' | 'unitPriceMicrocents'>;
}

export function admissionTerms(kind: Kind, { units, tokenQuotas, ...terms }: ProcessTerms): AdmissionTerms {
  return {
    kind: kind.name,
    outlivesCallers: kind.outlivesCallers,
    sandboxUnits: units?.sandboxUnits ?? 0,
    unitPriceMicrocents: kind.costs === 'unit' ? (units?.unitPriceMicrocents ?? null) : null,
    tokenQuotas: kind.costs === 'tokens' ? tokenQuotas : undefined,
    ...terms,
  };
}

/** Admits work of a kind, as `admit` does, with the kind's own rows. */
export async function admitWork(
  { pool, em }: Connections,
  kind: Pick<Kind, 'rows'>,
  admissions: readonly Admission[],
  terms: AdmissionTerms,
  shedding?: Shedding,
): Promise<AdmissionResult[]> {
  if (kind.rows?.admitted === undefined) return admit(pool, admissions, terms, shedding);
  return repeatableTransaction(em(), (tx) => admitWithin(tx, kind, admissions, terms, shedding));
}

/** Admits work as `admitWork` does, in the caller's transaction. */
export async function admitWithin(
  tx: EntityManager,
  { rows }: Pick<Kind, 'rows'>,
  admissions: readonly Admission[],
  terms: AdmissionTerms,
  shedding?: Shedding,
): Promise<AdmissionResult[]> {
  const results = await admit(tx, admissions, terms, shedding);
  const stored = results.flatMap(({ stored, id, attempt }, place) => {
    const admission = admissions[place];
    return stored && admission !== undefined ? { ...admission, id, attempt } : [];
  });
  if (stored.length > 0) await rows?.admitted?.(tx, stored);
  return results;
}

interface JobRequest<Facts> {
  accountId: string;
  id?: string;
  facts: Facts;
  body: object;
  /** Requests with the same id share one job. By default, every request gets a new job. */
  requestId?: string | undefined;
  /** True to join the live job of the same request, even while other callers wait for it. */
  wait?: boolean;
}

export function jobAdmission<Facts>(
  kind: Pick<Kind, 'name'>,
  { accountId, body, id = newId(), requestId = id, wait = false, facts }: JobRequest<Facts>,
): Admission<Facts> {
  const input = canonicalJson(body);
  return {
    id,
    party: accountId,
    key: requestKey(kind.name, accountId, requestId),
    fingerprint: fingerprint(Buffer.from(accountId), input),
    userId: '',
    connectionId: null,
    line: null,
    wait,
    cancelOnDisconnect: false,
    facts,
    input,
  };
}
