import type { End } from '../../shared/domain/work.ts';
import type { ErrorCode, ErrorSource } from '../../shared/errors/catalogue.ts';
import { ProviderError, type ProviderFault, SHORTEST_CALL_MS } from '../providers/provider.ts';

const FAILURES: Record<ProviderFault, { code: ErrorCode; source?: ErrorSource }> = {
  timeout: { code: 'prediction_timeout', source: 'provider' },
  not_configured: { code: 'provider_not_configured' },
  rate_limited: { code: 'provider_rate_limited' },
  failed: { code: 'provider_failed' },
};

/** How a prediction ends when its provider fails. */
export function failureOf({ fault, retryAfterMs }: ProviderError): End<never> {
  return { state: 'failed', ...FAILURES[fault], retryAfterMs };
}

/** Asks a model again after a timeout while there is time; any other fault fails at once. */
export async function inAttempts<T>(leftMs: () => number, attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const isLate = error instanceof ProviderError && error.fault === 'timeout';
      if (!isLate || leftMs() <= SHORTEST_CALL_MS) throw error;
    }
  }
}
