import type { Admission, AdmissionTerms } from '../db/stores/work/admit.ts';
import { requestKey } from '../domain/work.ts';
import { newId } from '../ids.ts';
import { canonicalJson, fingerprint } from '../security/fingerprint.ts';
import type { Kind } from './kind.ts';
import type { NoFacts } from './kinds.ts';

/** The terms of a process that admits work. */
interface Terms extends Pick<AdmissionTerms, 'process' | 'timeoutMs' | 'recoveryWindowS'> {
  /** The price of kinds that are charged; a process that admits none needs none. */
  units?: Pick<AdmissionTerms, 'sandboxUnits' | 'unitPriceMicrocents'>;
}

/** The terms of every admission of a kind in a process. */
export function admissionTerms(kind: Kind, { units, ...terms }: Terms): AdmissionTerms {
  return {
    kind: kind.name,
    outlivesCallers: kind.outlivesCallers,
    sandboxUnits: units?.sandboxUnits ?? 0,
    unitPriceMicrocents: kind.charged ? (units?.unitPriceMicrocents ?? null) : null,
    ...terms,
  };
}

/** A piece of work that another one is made of. */
export interface Part<Facts = object> {
  /** Names it: the same again is the same part. */
  id: string;
  /** The input of its handler. */
  body: object;
  facts: Facts;
}

/** A job of an account, whoever asks for it, or a part of one. */
interface JobRequest<Facts> extends Partial<Part<Facts>> {
  accountId: string;
  body: object;
  /** Names the request: the same again is the same job. By default every request is new. */
  requestId?: string | undefined;
  /** Wait where the same request still runs. */
  wait?: boolean;
}

/** The admission of a job, before anything is known of the load. */
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
