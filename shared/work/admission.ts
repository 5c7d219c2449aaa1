import type { Admission, AdmissionTerms } from '../db/stores/work/admit.ts';
import { requestKey } from '../domain/work.ts';
import { newId } from '../ids.ts';
import { canonicalJson, fingerprint } from '../security/fingerprint.ts';
import type { Kind } from './kind.ts';
import type { NoFacts } from './kinds.ts';

interface ProcessTerms extends Pick<AdmissionTerms, 'process' | 'timeoutMs' | 'recoveryWindowS'> {
  /** Needed only by processes that admit charged work. */
  units?: Pick<AdmissionTerms, 'sandboxUnits' | 'unitPriceMicrocents'>;
}

export function admissionTerms(kind: Kind, { units, ...terms }: ProcessTerms): AdmissionTerms {
  return {
    kind: kind.name,
    outlivesCallers: kind.outlivesCallers,
    sandboxUnits: units?.sandboxUnits ?? 0,
    unitPriceMicrocents: kind.charged ? (units?.unitPriceMicrocents ?? null) : null,
    ...terms,
  };
}

export interface Part<Facts = object> {
  /** A part that is admitted again with the same id is not duplicated. */
  id: string;
  body: object;
  facts: Facts;
}

interface JobRequest<Facts> extends Partial<Part<Facts>> {
  accountId: string;
  body: object;
  /** Requests with the same id share one job. By default, every request gets a new job. */
  requestId?: string | undefined;
  /** True to join the live job of the same request, even while other callers wait for it. */
  wait?: boolean;
}

export function jobAdmission<Facts = NoFacts>(
  kind: Pick<Kind, 'name'>,
  { accountId, body, id = newId(), requestId = id, wait = false, facts }: JobRequest<Facts>,
): Admission<Facts | NoFacts> {
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
    facts: facts ?? {},
    input,
  };
}
