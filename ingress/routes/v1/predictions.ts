import type { IncomingHttpHeaders } from 'node:http';
import type { AppPrincipal } from '../../../shared/domain/app.ts';
import { envelopeSize } from '../../../shared/domain/context-envelope.ts';
import {
  answerOf,
  cancelAnswerOf,
  type PredictionFacts,
  type PredictionOutcome,
  predictionKey,
  refusalOf,
} from '../../../shared/domain/prediction.ts';
import { requestKey } from '../../../shared/domain/work.ts';
import { AppError } from '../../../shared/errors/app-error.ts';
import { newId } from '../../../shared/ids.ts';
import { MIB, UUID } from '../../../shared/schemas/limits.ts';
import {
  CancelResponse,
  PredictionRequest,
  PredictionResponse,
  SubjectRequest,
} from '../../../shared/schemas/predictions.ts';
import { canonicalJson, fingerprint } from '../../../shared/security/fingerprint.ts';
import { predict } from '../../../shared/work/kinds.ts';
import { type Answer, type Endpoint, endpoint } from '../../endpoint.ts';
import type { Call, WorkService } from '../../work-service.ts';

export interface PredictionRoutes {
  work: WorkService;
  contextEnvelopeChars: number;
}

export function predictionEndpoints({ work, contextEnvelopeChars }: PredictionRoutes): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: '/v1/predictions',
      operationId: 'predict',
      tag: 'Predictions',
      summary: 'Predict what the person will type next',
      description:
        'Waits for the answer. The same request again is answered the same for a while, and charged once.',
      auth: 'app',
      body: PredictionRequest,
      bodyLimit: 4 * MIB,
      requestHeaders: ['Prefer', 'X-On-Disconnect'],
      errors: [
        'context_too_large',
        'not_found',
        'feature_disabled',
        'access_denied',
        'connection_revoked',
        'idempotency_conflict',
        'request_in_flight',
        'context_revision_conflict',
        'recovery_window_expired',
        'sandbox_exhausted',
        'monthly_cap_reached',
        'prediction_cancelled',
        'prediction_superseded',
        'provider_failed',
        'provider_not_configured',
        'provider_rate_limited',
        'overloaded',
        'prediction_timeout',
      ],
      status: 200,
      response: PredictionResponse,
      responseHeaders: ['Idempotency-Replayed', 'Server-Timing'],
    }).handle(({ body, app, headers, signal }) => {
      checkFeatures(app, body);
      if (envelopeSize(body) > contextEnvelopeChars) throw new AppError('context_too_large');
      if (body.connection_id !== null && !UUID.test(body.connection_id)) throw new AppError('not_found');
      return answer(work, callOf(body, app, headers), signal);
    }),

    endpoint({
      method: 'POST',
      path: '/v1/predictions/:request_id/cancel',
      operationId: 'cancelPrediction',
      tag: 'Predictions',
      summary: 'Cancel a prediction, or learn how it ended',
      auth: 'app',
      body: SubjectRequest,
      errors: ['not_found', 'access_denied'],
      status: 200,
      response: CancelResponse,
    }).handle(async ({ body, params, app }) => {
      const key = predictionKey(app.id, params.request_id);
      const outcome = await work.cancel(
        predict,
        app.id,
        { requestId: params.request_id, key },
        ({ userId }) => {
          if (userId !== body.user_id) throw new AppError('access_denied');
        },
      );
      if (outcome === undefined) throw new AppError('not_found');
      return { body: cancelAnswerOf(outcome) };
    }),
  ];
}

/** Apart from the handler, so that the body is not held while the caller waits. */
async function answer(
  work: WorkService,
  call: Call<PredictionFacts>,
  gone: AbortSignal,
): Promise<Answer<PredictionResponse>> {
  const since = performance.now();
  const { outcome, replayed } = await work.perform(predict, call, gone);
  const refusal = refusalOf(outcome);
  if (refusal !== undefined) throw refusal;
  return {
    body: answerOf(outcome),
    headers: {
      'Server-Timing': serverTiming(outcome, performance.now() - since),
      ...(replayed && { 'Idempotency-Replayed': 'true' }),
    },
  };
}

function checkFeatures(app: AppPrincipal, { mode }: PredictionRequest): void {
  if (app.disabled.includes('predictions') || app.disabled.includes(mode))
    throw new AppError('feature_disabled');
}

function callOf(
  body: PredictionRequest,
  app: AppPrincipal,
  headers: IncomingHttpHeaders,
): Call<PredictionFacts> {
  const input = canonicalJson(body);
  const { request_id: requestId, user_id: userId, session_id: sessionId, connection_id: connectionId } = body;
  return {
    id: newId(),
    party: app.id,
    requestId,
    key: predictionKey(app.id, requestId),
    fingerprint: fingerprint(app.fingerprintKey, input),
    userId,
    connectionId,
    line: {
      key: requestKey(`draft ${userId}`, app.id, sessionId),
      sessionId,
      revision: body.draft.revision,
      textHash: fingerprint(app.fingerprintKey, body.draft.text),
      supersedable: body.mode === 'complete_draft',
    },
    wait: prefers(headers['prefer'], 'wait'),
    cancelOnDisconnect: (headers['x-on-disconnect'] ?? app.onDisconnect) === 'cancel',
    facts: {
      requestId,
      userId,
      sessionId,
      mode: body.mode,
      connectionId,
      draftRevision: body.draft.revision,
      contextRevision: body.context_revision,
      minConfidence: app.minConfidence,
    },
    input,
  };
}

/** Whether a `Prefer` header (RFC 7240) names the preference, with a value or without. */
function prefers(header: string | string[] | undefined, preference: string): boolean {
  const preferences = String(header ?? '').split(',');
  return preferences.some((one) => one.split(/[;=]/)[0]?.trim().toLowerCase() === preference);
}

/** Milliseconds in the queue, at the provider and in all, for people who look for where the time went. */
function serverTiming({ queueMs, report }: PredictionOutcome, totalMs: number): string {
  const providerMs = report?.providerMs ?? null;
  return Object.entries({ queue: queueMs, provider: providerMs, total: totalMs })
    .flatMap(([name, ms]) => (ms === null ? [] : [`${name};dur=${ms.toFixed(1)}`]))
    .join(', ');
}
