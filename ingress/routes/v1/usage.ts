import type { readUsage } from '../../../shared/db/stores/usage.ts';
import { usageReport } from '../../../shared/domain/usage.ts';
import { AppError } from '../../../shared/errors/app-error.ts';
import { MONTH_PATTERN } from '../../../shared/schemas/limits.ts';
import { UsageQuery, UsageResponse } from '../../../shared/schemas/usage.ts';
import { type Endpoint, endpoint } from '../../endpoint.ts';

export interface UsageRoutes {
  readUsage(appId: string, month?: string): ReturnType<typeof readUsage>;
  sandboxUnits: number;
}

const MONTH = new RegExp(MONTH_PATTERN);

export function usageEndpoints({ readUsage, sandboxUnits }: UsageRoutes): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/v1/usage',
      operationId: 'readUsage',
      tag: 'Usage',
      summary: 'What the app used in a month',
      auth: 'app',
      ownQuery: UsageQuery,
      errors: ['invalid_month'],
      status: 200,
      response: UsageResponse,
    }).handle(async ({ app, query }) => {
      const month = query['month'];
      // The one endpoint whose query is no 422: the client's document has none here.
      if (month !== undefined && !(typeof month === 'string' && MONTH.test(month)))
        throw new AppError('invalid_month');
      const found = await readUsage(app.id, month);
      if (found === undefined) throw new AppError('invalid_app_key');
      return { body: usageReport(found.app, found.month, found.counts, sandboxUnits) };
    }),
  ];
}
