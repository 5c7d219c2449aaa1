import { defineEntity, p } from '@mikro-orm/core';
import { EVENT_KINDS } from '../../schemas/limits.ts';

/** What became of a prediction that was shown. Kept for as long as the prediction's tombstone. */
export const PredictionEvent = defineEntity({
  name: 'PredictionEvent',
  tableName: 'prediction_events',
  properties: {
    appId: p.uuid().primary(),
    eventId: p.string().length(80).primary(),
    predictionId: p.uuid(),
    requestId: p.string().length(80),
    userId: p.text(),
    kind: p.enum([...EVENT_KINDS]),
    recordedAt: p.datetime(3),
  },
  indexes: [
    { name: 'prediction_events_recorded', properties: ['recordedAt'] },
    { name: 'prediction_events_prediction', properties: ['predictionId'] },
  ],
});
