import type { IncomingHttpHeaders } from 'node:http';
import { ALTERNATIVES_MAX, MIB } from '../../../shared/schemas/limits.ts';
import {
  CancelResponse,
  PredictionEventRequest,
  PredictionEventResponse,
  PredictionRequest,
  PredictionResponse,
  SubjectRequest,
} from '../../../shared/schemas/predictions.ts';
import { displayStrings } from '../../http/display-strings.ts';
import { endpoint } from '../../http/endpoint.ts';
import { replayedHeader } from '../../jobs/answer.ts';
import { PREDICTION_ERRORS } from '../../jobs/declaration.ts';
import type { PredictionPreferences } from '../../predictions/service.ts';
import { preferredNumber, prefers, requestedProject, requestedShare } from '../../request/headers.ts';
import type { Parts } from '../parts.ts';

export const predict = endpoint('app', {
  operationId: 'predict',
  tag: 'Predictions',
  summary: 'Predict what the person will type next',
  description:
    'Waits for the answer. A repeated request gets the same answer for a while, and is charged once.',
  body: PredictionRequest,
  bodyLimit: 4 * MIB,
  boxesBody: true,
  requestHeaders: ['Forecue-Project', 'Prefer', 'X-On-Disconnect'],
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
    'prediction_superseded',
    ...PREDICTION_ERRORS,
  ],
  response: PredictionResponse,
  responseHeaders: ['Forecue-Alternatives', 'Idempotency-Replayed', 'Server-Timing'],
}).handle(async ({ body, app, headers, signal }, { predictions }: Parts) => {
  const since = performance.now();
  const preferences = preferencesOf(headers);
  const { answer, alternatives, replayed, queueMs, providerMs } = await predictions.predict(
    app,
    body,
    preferences,
    signal,
  );
  const timing = { queue: queueMs, provider: providerMs, total: performance.now() - since };
  return {
    body: answer,
    headers: {
      'Server-Timing': serverTiming(timing),
      ...(alternatives.length > 0 && { 'Forecue-Alternatives': displayStrings(alternatives) }),
      ...replayedHeader(replayed),
    },
  };
});

export const cancelPrediction = endpoint('app', {
  operationId: 'cancelPrediction',
  tag: 'Predictions',
  summary: 'Cancel a prediction, or learn how it ended',
  description:
    'A prediction whose `request_id` is `.` or `..` can be cancelled only by clients that send such a path as it is; most fold it.',
  params: { request_id: 'identifier' },
  body: SubjectRequest,
  errors: ['access_denied'],
  response: CancelResponse,
}).handle(async ({ body, params, app }, { predictions }: Parts) => ({
  body: await predictions.cancel(app.id, params.request_id, body.user_id),
}));

function preferencesOf(headers: IncomingHttpHeaders): PredictionPreferences {
  const onDisconnect = headers['x-on-disconnect'];
  return {
    wait: prefers(headers, 'wait'),
    onDisconnect: onDisconnect === undefined ? undefined : String(onDisconnect),
    project: requestedProject(headers),
    alternatives: Math.min(preferredNumber(headers, 'alternatives'), ALTERNATIVES_MAX),
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
  requestHeaders: ['Forecue-Retained'],
  errors: ['not_found', 'access_denied', 'request_in_flight', 'event_conflict'],
  response: PredictionEventResponse,
}).handle(async ({ body, app, headers }, { recordEvent }: Parts) => {
  await recordEvent(app.id, body, body.kind === 'submitted' ? requestedShare(headers) : null);
  return { body: { status: 'recorded' } };
});
