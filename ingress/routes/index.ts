import type { Health } from '../../shared/operator-port.ts';
import type { Endpoint } from '../endpoint.ts';
import { type AuthRoutes, authEndpoints } from './api/auth.ts';
import { type OwnConnectionRoutes, ownConnectionEndpoints } from './api/connections.ts';
import { type KeyRoutes, keyEndpoints } from './api/keys.ts';
import { type MeRoutes, meEndpoints } from './api/me.ts';
import { type RecordingRoutes, recordingEndpoints } from './api/recording.ts';
import { healthEndpoints } from './health.ts';
import { type ConnectionRoutes, connectionEndpoints } from './v1/connections.ts';
import { type PredictionEventRoutes, predictionEventEndpoints } from './v1/prediction-events.ts';
import { type PredictionRoutes, predictionEndpoints } from './v1/predictions.ts';
import { type UsageRoutes, usageEndpoints } from './v1/usage.ts';

export type Parts = ConnectionRoutes &
  PredictionRoutes &
  PredictionEventRoutes &
  UsageRoutes &
  AuthRoutes &
  KeyRoutes &
  MeRoutes &
  OwnConnectionRoutes &
  RecordingRoutes & { health: Health };

/** The table of every endpoint: the product on one page. */
export function endpoints(parts: Parts): Endpoint[] {
  return [
    ...connectionEndpoints(parts),
    ...predictionEndpoints(parts),
    ...predictionEventEndpoints(parts),
    ...usageEndpoints(parts),
    ...authEndpoints(parts),
    ...meEndpoints(parts),
    ...keyEndpoints(parts),
    ...ownConnectionEndpoints(parts),
    ...recordingEndpoints(parts),
    ...healthEndpoints(parts.health),
  ];
}
