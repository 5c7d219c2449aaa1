import type { EntityManager } from '@mikro-orm/postgresql';
import { readUsage } from '../../shared/db/stores/usage.ts';
import { usageReport } from '../../shared/domain/usage.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import type { UsageResponse } from '../../shared/schemas/usage.ts';

/** Makes the reader of an app's usage in a month, the current one by default. Throws `invalid_app_key` when the app is gone. */
export function usageReporter(em: () => EntityManager, sandboxUnits: number) {
  return async (appId: string, month: string | undefined): Promise<UsageResponse> => {
    const found = await readUsage(em(), appId, month);
    if (found === undefined) throw new AppError('invalid_app_key');
    return usageReport(found.app, found.month, found.counts, sandboxUnits);
  };
}
