import type { Health } from '../../shared/operator-port.ts';
import type { Endpoint } from '../endpoint.ts';
import { healthEndpoints } from './health.ts';
import { type PredictionRoutes, predictionEndpoints } from './v1/predictions.ts';
import { type UsageRoutes, usageEndpoints } from './v1/usage.ts';

/** The table of every endpoint: the product on one page. */
export function endpoints(parts: PredictionRoutes & UsageRoutes & { health: Health }): Endpoint[] {
  return [...predictionEndpoints(parts), ...usageEndpoints(parts), ...healthEndpoints(parts.health)];
}
