import {
  PredictionEventRequest,
  PredictionEventResponse,
} from '../../../shared/schemas/prediction-events.ts';
import { endpoint } from '../../http/endpoint.ts';

export interface PredictionEventRoutes {
  recordEvent(appId: string, event: PredictionEventRequest): Promise<void>;
}

export const recordPredictionEvent = endpoint('app', {
  operationId: 'recordPredictionEvent',
  tag: 'Predictions',
  summary: 'Tell what became of a prediction',
  body: PredictionEventRequest,
  errors: ['not_found', 'access_denied', 'request_in_flight', 'event_conflict'],
  status: 200,
  response: PredictionEventResponse,
}).handle(async ({ body, app }, { recordEvent }: PredictionEventRoutes) => {
  await recordEvent(app.id, body);
  return { body: { status: 'recorded' } };
});
