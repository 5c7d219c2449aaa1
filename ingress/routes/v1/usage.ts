import { readUsage as findUsage } from '../../../shared/db/stores/usage.ts';
import { usageReport } from '../../../shared/domain/usage.ts';
import { AppError } from '../../../shared/errors/app-error.ts';
import { UsageQuery, UsageResponse } from '../../../shared/schemas/usage.ts';
import { endpoint } from '../../http/endpoint.ts';
import type { Parts } from '../parts.ts';

export const readUsage = endpoint('app', {
  operationId: 'readUsage',
  tag: 'Usage',
  summary: 'What the app used in a month',
  query: UsageQuery,
  // This endpoint answers an invalid month with 400, and has no 422.
  queryError: 'invalid_month',
  response: UsageResponse,
}).handle(async ({ app, query }, { em, sandboxUnits }: Parts) => {
  const found = await findUsage(em(), app.id, query.month);
  if (found === undefined) throw new AppError('invalid_app_key');
  return { body: usageReport(found.app, found.month, found.counts, sandboxUnits) };
});
