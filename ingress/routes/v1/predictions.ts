import type { IncomingHttpHeaders } from 'node:http';
import { MIB } from '../../../shared/schemas/limits.ts';
import {
  CancelResponse,
  PredictionEventRequest,
  PredictionEventResponse,
  PredictionRequest,
  PredictionResponse,
  SubjectRequest,
} from '../../../shared/schemas/predictions.ts';
import { type Answer, endpoint } from '../../http/endpoint.ts';
import { prefers } from '../../http/preferences.ts';
import { replayedHeader } from '../../jobs/answer.ts';
import type { PredictionPreferences, PredictionResult } from '../../predictions/service.ts';
import type { Parts } from '../parts.ts';

export const predict = endpoint('app', {
  operationId: 'predict',
  tag: 'Predictions',
  summary: 'Predict what the person will type next',
  description:
    'Waits for the answer. A repeated request gets the same answer for a while, and is charged once.',
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
}).handle(({ body, app, headers, signal }, { predictions }: Parts) =>
  answer(predictions.predict(app, body, preferencesOf(headers), signal)),
);

export const cancelPrediction = endpoint('app', {
  operationId: 'cancelPrediction',
  tag: 'Predictions',
  summary: 'Cancel a prediction, or learn how it ended',
  params: { request_id: 'identifier' },
  body: SubjectRequest,
  errors: ['not_found', 'access_denied'],
  status: 200,
  response: CancelResponse,
}).handle(async ({ body, params, app }, { predictions }: Parts) => ({
  body: await predictions.cancel(app.id, params.request_id, body.user_id),
}));

/** Awaits the prediction outside the handler, so that the request body can be garbage-collected meanwhile. */
async function answer(prediction: Promise<PredictionResult>): Promise<Answer<PredictionResponse>> {
  const since = performance.now();
  const { answer, replayed, queueMs, providerMs } = await prediction;
  return {
    body: answer,
    headers: {
      'Server-Timing': serverTiming({
        queue: queueMs,
        provider: providerMs,
        total: performance.now() - since,
      }),
      ...replayedHeader(replayed),
    },
  };
}

function preferencesOf(headers: IncomingHttpHeaders): PredictionPreferences {
  const onDisconnect = headers['x-on-disconnect'];
  return {
    wait: prefers(headers, 'wait'),
    onDisconnect: onDisconnect === undefined ? undefined : String(onDisconnect),
  };
}

/** Renders the `Server-Timing` header from the milliseconds of each stage. */
function serverTiming(stages: Record<string, number | null>): string {
  return Object.entries(stages)
    .flatMap(([name, ms]) => (ms === null ? [] : [`${name};dur=${ms.toFixed(1)}`]))
    .join(', ');
}

export const recordPredictionEvent = endpoint('app', {
  operationId: 'recordPredictionEvent',
  tag: 'Predictions',
  summary: 'Report what became of a prediction',
  body: PredictionEventRequest,
  errors: ['not_found', 'access_denied', 'request_in_flight', 'event_conflict'],
  status: 200,
  response: PredictionEventResponse,
}).handle(async ({ body, app }, { recordEvent }: Parts) => {
  await recordEvent(app.id, body);
  return { body: { status: 'recorded' } };
});
