import { AppError } from '../../shared/errors/app-error.ts';
import { HealthResponse, ReadinessResponse } from '../../shared/schemas/common.ts';
import { endpoint } from '../http/endpoint.ts';
import type { Parts } from './parts.ts';

export const checkHealth = endpoint('none', {
  operationId: 'checkHealth',
  tag: 'Health',
  summary: 'Is the process up, and has it been able to do its work within the last 10 s?',
  unlimited: true,
  errors: ['service_unavailable'],
  response: HealthResponse,
}).handle(async (_, { health }: Parts) => {
  if (!health.isHealthy()) throw new AppError('service_unavailable');
  return { body: { status: 'ok' } };
});

export const checkReadiness = endpoint('none', {
  operationId: 'checkReadiness',
  tag: 'Health',
  summary: 'Do the database and the queue answer, and is the process not shutting down?',
  unlimited: true,
  errors: ['service_unavailable'],
  response: ReadinessResponse,
}).handle(async (_, { health }: Parts) => {
  if (!(await health.isReady().catch(() => false))) throw new AppError('service_unavailable');
  return { body: { status: 'ready' } };
});
