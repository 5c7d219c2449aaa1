import type { Admission, AdmissionTerms } from '../db/stores/work/admit.ts';
import { requestKey } from '../domain/work.ts';
import { newId } from '../ids.ts';
import { canonicalJson, fingerprint } from '../security/fingerprint.ts';
import type { Kind } from './kind.ts';
import type { NoFacts } from './kinds.ts';

/** The terms of a process that admits work. */
interface Terms extends Pick<AdmissionTerms, 'process' | 'timeoutMs' | 'recoveryWindowS'> {
  /** The price of kinds that are charged. */
  units: Pick<AdmissionTerms, 'sandboxUnits' | 'unitPriceMicrocents'>;
}

/** The price for a process that admits no kind that is charged. */
export const NO_UNITS = { sandboxUnits: 0, unitPriceMicrocents: null };

/** The terms of every admission of a kind in a process. */
export function admissionTerms(kind: Kind, { units, ...terms }: Terms): AdmissionTerms {
  return {
    kind: kind.name,
    outlivesCallers: kind.outlivesCallers,
    sandboxUnits: units.sandboxUnits,
    unitPriceMicrocents: kind.charged ? units.unitPriceMicrocents : null,
    ...terms,
  };
}

/** A job of an account, whoever asks for it. */
interface JobRequest {
  accountId: string;
  /** The input of its handler. */
  body: object;
  /** Names the request: the same again is the same job. Without one every request is new. */
  requestId: string | undefined;
  /** Wait where the same request still runs. */
  wait: boolean;
}

/** The admission of a job, before anything is known of the load. */
export function jobAdmission(
  kind: Pick<Kind, 'name'>,
  { accountId, body, requestId, wait }: JobRequest,
): Omit<Admission<NoFacts>, 'kind'> {
  const id = newId();
  return admissionOf(kind, { id, accountId, body, requestId: requestId ?? id, wait, facts: {} });
}

/** A piece of work that another one is made of. */
export interface Part {
  /** Names it: the same again is the same part. */
  id: string;
  /** The input of its handler. */
  body: object;
  facts: object;
}

/** The admission of a part of an account's work. */
export function partAdmission(kind: Pick<Kind, 'name'>, accountId: string, part: Part): Admission {
  const admission = admissionOf(kind, { ...part, accountId, requestId: part.id, wait: false });
  return { ...admission, kind: kind.name };
}

function admissionOf<Facts>(
  kind: Pick<Kind, 'name'>,
  asked: { id: string; accountId: string; body: object; requestId: string; wait: boolean; facts: Facts },
): Omit<Admission<Facts>, 'kind'> {
  const { id, accountId, requestId, wait, facts } = asked;
  const input = canonicalJson(asked.body);
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
