import type { Static } from 'typebox';
import { closed, oneOf } from './build.ts';
import { Identifier, Name } from './common.ts';
import { EVENT_KINDS } from './limits.ts';

export const PredictionEventRequest = closed({
  event_id: Identifier,
  request_id: Identifier,
  user_id: Name,
  kind: oneOf(EVENT_KINDS),
});
export type PredictionEventRequest = Static<typeof PredictionEventRequest>;

export const PredictionEventResponse = closed({ status: oneOf(['recorded']) });
