import { Box } from '../../shared/box.ts';
import { type AppPrincipal, checkFeatures } from '../../shared/domain/app.ts';
import { envelopeSize } from '../../shared/domain/context-envelope.ts';
import {
  answerOf,
  cancelAnswerOf,
  draftLineKey,
  type PredictionFacts,
  predictionKey,
  refusalOf,
  splitChoices,
} from '../../shared/domain/prediction.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import { newId } from '../../shared/ids.ts';
import { UUID } from '../../shared/schemas/limits.ts';
import type {
  CancelResponse,
  PredictionRequest,
  PredictionResponse,
} from '../../shared/schemas/predictions.ts';
import { fingerprint, sortKeys } from '../../shared/security/fingerprint.ts';
import { predict } from '../../shared/work/kinds.ts';
import type { WorkCall, WorkService } from '../work/service.ts';

export interface PredictionPreferences {
  /** Waits if the same request still runs, instead of failing. */
  wait: boolean;
  /** Overrides the app's setting. */
  onDisconnect: string | undefined;
  project: string | undefined;
  /** Number of other completions. */
  alternatives: number;
}

export interface PredictionResult {
  answer: PredictionResponse;
  alternatives: string[];
  /** True if another call started the work. */
  replayed: boolean;
  queueMs: number | null;
  providerMs: number | null;
}

export class PredictionService {
  readonly #work: Pick<WorkService, 'perform' | 'cancel'>;
  readonly #contextEnvelopeChars: number;

  constructor(work: Pick<WorkService, 'perform' | 'cancel'>, contextEnvelopeChars: number) {
    this.#work = work;
    this.#contextEnvelopeChars = contextEnvelopeChars;
  }

  /**
   * Throws `feature_disabled`, `context_too_large`, `not_found` for a malformed connection id, and the error of the
   * prediction if the prediction fails.
   */
  async predict(
    app: AppPrincipal,
    body: Box<PredictionRequest>,
    preferences: PredictionPreferences,
    gone: AbortSignal,
  ): Promise<PredictionResult> {
    const checkedBody = body.map((request) => this.#check(app, request));
    const call = callOf(app, checkedBody, preferences);
    const { outcome, replayed } = await this.#work.perform(predict, call, gone);
    const refusal = refusalOf(outcome);
    if (refusal !== undefined) throw refusal;
    const { queueMs, report } = outcome;
    const { alternatives } = splitChoices(outcome.answer ?? '');
    return {
      answer: answerOf(outcome),
      alternatives: alternatives.slice(0, preferences.alternatives),
      replayed,
      queueMs,
      providerMs: report?.providerMs ?? null,
    };
  }

  /** Returns how the prediction ended. Throws `not_found`, or `access_denied` for a prediction of another user. */
  async cancel(appId: string, requestId: string, userId: string): Promise<CancelResponse> {
    const outcome = await this.#work.cancel(predict, predictionKey(appId, requestId), (facts) => {
      if (facts.userId !== userId) throw new AppError('access_denied');
    });
    if (outcome === undefined) throw new AppError('not_found');
    return cancelAnswerOf(outcome);
  }

  #check(app: AppPrincipal, body: PredictionRequest): PredictionRequest {
    checkFeatures(app, 'predictions', body.mode);
    if (envelopeSize(body) > this.#contextEnvelopeChars) throw new AppError('context_too_large');
    if (body.connection_id !== null && !UUID.test(body.connection_id)) throw new AppError('not_found');
    return body;
  }
}

function callOf(
  app: AppPrincipal,
  body: Box<PredictionRequest>,
  { wait, onDisconnect = app.onDisconnect, project, alternatives }: PredictionPreferences,
): WorkCall<PredictionFacts> {
  const orderedBody = sortKeys(body.take());
  const text = JSON.stringify(orderedBody);
  const { request_id: requestId, draft, ...context } = orderedBody;
  const { user_id: userId, session_id: sessionId, connection_id: connectionId } = context;
  const draftHash = fingerprint(app.fingerprintKey, draft.text);
  return {
    id: newId(),
    party: app.id,
    key: predictionKey(app.id, requestId),
    fingerprint: fingerprint(app.fingerprintKey, text),
    userId,
    connectionId,
    line: {
      key: draftLineKey(app.id, userId, sessionId),
      revision: draft.revision,
      textHash: draftHash,
      supersedable: context.mode === 'complete_draft',
    },
    wait,
    cancelOnDisconnect: onDisconnect === 'cancel',
    facts: {
      requestId,
      userId,
      sessionId,
      mode: context.mode,
      connectionId,
      draftRevision: draft.revision,
      draftLength: draft.text.length,
      draftHash: draftHash.toString('base64url'),
      contextRevision: context.context_revision,
      contextHash: fingerprint(app.fingerprintKey, JSON.stringify({ ...context, project })).toString(
        'base64url',
      ),
      alternatives,
      minConfidence: app.minConfidence,
    },
    input: new Box(project === undefined ? text : JSON.stringify({ ...orderedBody, project })),
  };
}
