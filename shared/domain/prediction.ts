import { AppError } from '../errors/app-error.ts';
import type { ErrorCode, ErrorSource } from '../errors/catalogue.ts';
import type { PREDICTION_STATES } from '../schemas/limits.ts';
import type { CancelResponse, PredictionResponse } from '../schemas/predictions.ts';

/** What a waiting caller, or one that asks again, is told about a prediction. */
export interface Outcome {
  id: string;
  appId: string;
  /** The month that its unit belongs to. */
  month: string;
  requestId: string;
  userId: string;
  sessionId: string;
  connectionId: string | null;
  draftRevision: number;
  contextRevision: string;
  profileRevision: string;
  grantRevision: number;
  state: (typeof PREDICTION_STATES)[number];
  code: ErrorCode | 'abandoned' | null;
  errorSource: ErrorSource | null;
  units: 0 | 1;
  contextTruncated: boolean;
  /** End of the recovery window in Unix seconds; null while it runs. */
  expiresAt: number | null;
  /** Whether the texts are gone. */
  erased: boolean;
  completion: string;
  queueMs: number | null;
  providerMs: number | null;
}

/** Whether nothing will change any more, unless the request is sent again. */
export function isEnded({ state }: Pick<Outcome, 'state'>): boolean {
  return state !== 'queued' && state !== 'running';
}

/** The error that a prediction's end is for its caller; undefined when it has an answer. */
export function refusalOf(outcome: Outcome): AppError | undefined {
  const { code, errorSource, erased } = outcome;
  if (code === 'abandoned') return new AppError('service_unavailable');
  if (code !== null) return new AppError(code, errorSource === null ? {} : { source: errorSource });
  // Read in the moment in which the window closed.
  return erased ? new AppError('recovery_window_expired') : undefined;
}

/** The response of a suggested or abstained prediction. Made from the row alone, so that every replay has the same bytes. */
export function answerOf(outcome: Outcome): PredictionResponse {
  if (outcome.state !== 'suggested' && outcome.state !== 'abstained')
    throw new Error(`no answer: ${outcome.state}`);
  return {
    request_id: outcome.requestId,
    prediction_id: outcome.id,
    session_id: outcome.sessionId,
    connection_id: outcome.connectionId,
    draft_revision: outcome.draftRevision,
    context_revision: outcome.contextRevision,
    profile_revision: outcome.profileRevision,
    grant_revision: outcome.grantRevision,
    status: outcome.state,
    completion: outcome.completion,
    expires_at: outcome.expiresAt ?? 0,
    context_truncated: outcome.contextTruncated,
    usage: { prediction_units: outcome.units },
  };
}

/** What cancelling found or did: superseded counts as cancelled, abandoned as failed. */
export function cancelAnswerOf({ state, units }: Pick<Outcome, 'state' | 'units'>): CancelResponse {
  if (state === 'queued' || state === 'running') throw new Error(`not ended: ${state}`);
  return { status: state, prediction_units: units };
}
