import { AppError } from '../../shared/errors/app-error.ts';
import type { Health } from '../../shared/operator-port.ts';
import { HealthResponse, ReadinessResponse } from '../../shared/schemas/health.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';

/** Liveness and readiness on the public port, for balancers that see no other. */
export function healthEndpoints(health: Pick<Health, 'ready'>): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/healthz',
      operationId: 'checkHealth',
      tag: 'Health',
      summary: 'Is the process up?',
      auth: 'none',
      unlimited: true,
      errors: [],
      status: 200,
      response: HealthResponse,
    }).handle(async () => ({ body: { status: 'ok' } })),

    endpoint({
      method: 'GET',
      path: '/readyz',
      operationId: 'checkReadiness',
      tag: 'Health',
      summary: 'Do the database and the queue answer, and is the process not shutting down?',
      auth: 'none',
      unlimited: true,
      errors: ['service_unavailable'],
      status: 200,
      response: ReadinessResponse,
    }).handle(async () => {
      if (!(await health.ready().catch(() => false))) throw new AppError('service_unavailable');
      return { body: { status: 'ready' } };
    }),
  ];
}
