import { AppError } from '../errors/app-error.ts';
import type { DraftContext, DraftResponse } from '../schemas/drafts.ts';
import type { PREDICTION_MODES } from '../schemas/limits.ts';
import type { CancelResponse, PredictionResponse } from '../schemas/predictions.ts';
import { failureOf, type Outcome, requestKey } from './work.ts';

export function predictionKey(appId: string, requestId: string): string {
  return requestKey('predict', appId, requestId);
}

/** Returns the key that the drafts of one user in one session of an app have in common. */
export function draftLineKey(appId: string, userId: string, sessionId: string): string {
  return requestKey(`draft ${userId}`, appId, sessionId);
}

/** Facts about a prediction, fixed at its admission. */
export interface PredictionFacts {
  requestId: string;
  userId: string;
  sessionId: string;
  mode: (typeof PREDICTION_MODES)[number];
  connectionId: string | null;
  draftRevision: number;
  /** UTF-16 units. */
  draftLength: number;
  draftHash: string;
  contextRevision: string;
  /** Fingerprint of everything in the request except the draft. */
  contextHash: string;
  /** Number of other completions that the caller prefers. */
  alternatives: number;
  /** The app's minimum confidence at admission. */
  minConfidence: number;
}

/** Separates a completion from its alternatives where they are stored. No completion has control characters. */
const SEPARATOR = '\x1e';

/** Returns the text of an answer as it is stored: a completion and its alternatives. */
export function joinChoices(completion: string, alternatives: readonly string[]): string {
  return [completion, ...alternatives].join(SEPARATOR);
}

export function splitChoices(answer: string): { completion: string; alternatives: string[] } {
  const [completion = '', ...alternatives] = answer.split(SEPARATOR);
  return { completion, alternatives };
}

export interface PredictionReport {
  profileRevision: string;
  grantRevision: number;
  contextTruncated: boolean;
  /** Null if no provider was asked. */
  providerMs: number | null;
  /**
   * Id of an earlier prediction, if the person is typing its completion and this prediction suggests the rest of it.
   */
  continues?: string;
}

/** Contains no text of a person, since the history keeps reports. */
export interface DraftReport extends Pick<DraftResponse, 'confidence' | 'model' | 'usage'> {
  context: DraftContext;
  memoryMs: number;
  modelMs: number;
}

/** Texts of a draft's answer. They are stored as JSON and erased after the recovery window. */
export type DraftTexts = Required<Pick<DraftResponse, 'completion' | 'alternatives' | 'sent'>>;

type PredictionOutcome = Outcome<PredictionFacts, PredictionReport>;

/** Returns the error for the caller of a prediction; undefined if the prediction has an answer. */
export function refusalOf(outcome: PredictionOutcome): AppError | undefined {
  const { state, code, answer } = outcome;
  if (code === 'abandoned') return new AppError('service_unavailable');
  if (code !== null) return failureOf(code, outcome);
  // The answer was erased just as the row was read, most likely because the recovery window closed.
  return state === 'suggested' && answer === null ? new AppError('recovery_window_expired') : undefined;
}

/** Uses only the prediction's row, so that all replays have the same bytes. */
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
    completion: splitChoices(answer ?? '').completion,
    expires_at: expiresAt ?? 0,
    context_truncated: report.contextTruncated,
    usage: { prediction_units: units },
  };
}

/** Throws if the prediction has not ended. */
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
