import { AppError } from '../../../shared/errors/app-error.ts';
import type { ErrorCode } from '../../../shared/errors/catalogue.ts';
import {
  PredictionEventRequest,
  PredictionEventResponse,
} from '../../../shared/schemas/prediction-events.ts';
import { type Endpoint, endpoint } from '../../endpoint.ts';

export interface PredictionEventRoutes {
  recordEvent(appId: string, event: PredictionEventRequest): Promise<'recorded' | ErrorCode>;
}

export function predictionEventEndpoints({ recordEvent }: PredictionEventRoutes): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: '/v1/prediction-events',
      operationId: 'recordPredictionEvent',
      tag: 'Predictions',
      summary: 'Tell what became of a prediction',
      auth: 'app',
      body: PredictionEventRequest,
      errors: ['not_found', 'access_denied', 'request_in_flight', 'event_conflict'],
      status: 200,
      response: PredictionEventResponse,
    }).handle(async ({ body, app }) => {
      const outcome = await recordEvent(app.id, body);
      if (outcome !== 'recorded') throw new AppError(outcome);
      return { body: { status: outcome } };
    }),
  ];
}
