import type { Admission, AdmissionTerms } from '../db/stores/work/admit.ts';
import { requestKey } from '../domain/work.ts';
import { newId } from '../ids.ts';
import { canonicalJson, fingerprint } from '../security/fingerprint.ts';
import type { Kind } from './kind.ts';
import type { NoFacts } from './kinds.ts';

/** The terms of a process that admits work. */
interface Terms extends Pick<AdmissionTerms, 'process' | 'timeoutMs' | 'recoveryWindowS'> {
  /** The price of charged kinds; a process that admits no such kind need not give it. */
  units?: Pick<AdmissionTerms, 'sandboxUnits' | 'unitPriceMicrocents'>;
}

/** Returns the terms that all admissions of a kind in a process share. */
export function admissionTerms(kind: Kind, { units, ...terms }: Terms): AdmissionTerms {
  return {
    kind: kind.name,
    outlivesCallers: kind.outlivesCallers,
    sandboxUnits: units?.sandboxUnits ?? 0,
    unitPriceMicrocents: kind.charged ? (units?.unitPriceMicrocents ?? null) : null,
    ...terms,
  };
}

/** A piece of work that is a part of another one. */
export interface Part<Facts = object> {
  /** Id of the part: the same id again means the same part. */
  id: string;
  /** Input of the part's handler. */
  body: object;
  facts: Facts;
}

/** A request for a job of an account, by any caller, or for a part of a job. */
interface JobRequest<Facts> extends Partial<Part<Facts>> {
  accountId: string;
  body: object;
  /** Name of the request: the same name again means the same job. By default every request is new. */
  requestId?: string | undefined;
  /** True to wait if the same request is still live, even while others wait for it. */
  wait?: boolean;
}

/** Makes the admission of a job. */
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
