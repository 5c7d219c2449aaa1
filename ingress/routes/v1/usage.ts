import { UsageQuery, UsageResponse } from '../../../shared/schemas/usage.ts';
import { endpoint } from '../../http/endpoint.ts';

export interface UsageRoutes {
  /** The current month by default. */
  reportUsage(appId: string, month: string | undefined): Promise<UsageResponse>;
}

export const readUsage = endpoint('app', {
  operationId: 'readUsage',
  tag: 'Usage',
  summary: 'What the app used in a month',
  query: UsageQuery,
  // The client's document has no 422 here.
  queryError: 'invalid_month',
  errors: [],
  status: 200,
  response: UsageResponse,
}).handle(async ({ app, query }, { reportUsage }: UsageRoutes) => ({
  body: await reportUsage(app.id, query.month),
}));
