import { AppError } from '../errors/app-error.ts';
import type { DraftContext, DraftResponse } from '../schemas/drafts.ts';
import type { PREDICTION_MODES } from '../schemas/limits.ts';
import type { CancelResponse, PredictionResponse } from '../schemas/predictions.ts';
import { failureOf, type Outcome, requestKey } from './work.ts';

/** The key of an app's prediction, from the id that the app gave it. */
export function predictionKey(appId: string, requestId: string): string {
  return requestKey('predict', appId, requestId);
}

/** The line of an app's drafts that a person types in a session. */
export function lineKey(appId: string, userId: string, sessionId: string): string {
  return requestKey(`draft ${userId}`, appId, sessionId);
}

/** The facts of a prediction at its admission. */
export interface PredictionFacts {
  requestId: string;
  userId: string;
  sessionId: string;
  mode: (typeof PREDICTION_MODES)[number];
  connectionId: string | null;
  draftRevision: number;
  /** Length of the draft in UTF-16 units; then its fingerprint. */
  draftLength: number;
  draftHash: string;
  contextRevision: string;
  /** Fingerprint of all that the request says beside the draft. */
  contextHash: string;
  /** Below this confidence it abstains: the app's setting at that moment. */
  minConfidence: number;
}

/** The report of its worker. */
export interface PredictionReport {
  profileRevision: string;
  grantRevision: number;
  contextTruncated: boolean;
  /** Null when the provider was not asked. */
  providerMs: number | null;
  /** The prediction whose completion the person was typing: this one is the rest of it. */
  continues?: string;
}

/** The report of a draft's worker: it stays with the history, so it has no text of a person. */
export interface DraftReport extends Pick<DraftResponse, 'confidence' | 'model' | 'usage'> {
  context: DraftContext;
  memoryMs: number;
  modelMs: number;
}

/** The texts of its answer, as JSON, which are gone after the recovery window. */
export type DraftTexts = Required<Pick<DraftResponse, 'completion' | 'sent'>>;

export type PredictionOutcome = Outcome<PredictionFacts, PredictionReport>;

/** The error that a prediction ended with, for its caller; undefined when it has an answer. */
export function refusalOf(outcome: PredictionOutcome): AppError | undefined {
  const { state, code, answer } = outcome;
  if (code === 'abandoned') return new AppError('service_unavailable');
  if (code !== null) return failureOf(code, outcome);
  // It was read at the very moment the window closed.
  return state === 'suggested' && answer === null ? new AppError('recovery_window_expired') : undefined;
}

/**
 * The response of a suggested or abstained prediction. Built from the row alone, so that every replay has the same bytes.
 */
export function answerOf({
  id,
  state,
  answer,
  expiresAt,
  units,
  facts,
  report,
}: PredictionOutcome): PredictionResponse {
  if ((state !== 'suggested' && state !== 'abstained') || report === null)
    throw new Error(`no answer: ${state}`);
  return {
    request_id: facts.requestId,
    prediction_id: id,
    session_id: facts.sessionId,
    connection_id: facts.connectionId,
    draft_revision: facts.draftRevision,
    context_revision: facts.contextRevision,
    profile_revision: report.profileRevision,
    grant_revision: report.grantRevision,
    status: state,
    completion: answer ?? '',
    expires_at: expiresAt ?? 0,
    context_truncated: report.contextTruncated,
    usage: { prediction_units: units },
  };
}

/** The response to a cancel: superseded counts as cancelled, abandoned as failed. */
export function cancelAnswerOf({ state, units }: Pick<Outcome, 'state' | 'units'>): CancelResponse {
  switch (state) {
    case 'suggested':
    case 'abstained':
    case 'cancelled':
    case 'failed':
      return { status: state, prediction_units: units };
    default:
      throw new Error(`not ended: ${state}`);
  }
}
