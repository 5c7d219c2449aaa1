import { AppError } from '../../shared/errors/app-error.ts';
import type { Health } from '../../shared/process/operator-port.ts';
import { HealthResponse, ReadinessResponse } from '../../shared/schemas/common.ts';
import { endpoint } from '../http/endpoint.ts';

/** Liveness and readiness on the public port, for balancers that see no other. */
export interface HealthRoutes {
  health: Health;
}

export const checkHealth = endpoint('none', {
  operationId: 'checkHealth',
  tag: 'Health',
  summary: 'Is the process up, and has it been able to do its work within the last 10 s?',
  unlimited: true,
  errors: ['service_unavailable'],
  status: 200,
  response: HealthResponse,
}).handle(async (_, { health }: HealthRoutes) => {
  if (!health.isHealthy()) throw new AppError('service_unavailable');
  return { body: { status: 'ok' } };
});

export const checkReadiness = endpoint('none', {
  operationId: 'checkReadiness',
  tag: 'Health',
  summary: 'Do the database and the queue answer, and is the process not shutting down?',
  unlimited: true,
  errors: ['service_unavailable'],
  status: 200,
  response: ReadinessResponse,
}).handle(async (_, { health }: HealthRoutes) => {
  if (!(await health.isReady().catch(() => false))) throw new AppError('service_unavailable');
  return { body: { status: 'ready' } };
});
