import type { End } from '../../shared/domain/work.ts';
import type { ErrorCode, ErrorSource } from '../../shared/errors/catalogue.ts';
import { ProviderError, type ProviderFault } from '../providers/provider.ts';

/** With less time left another attempt is pointless. */
const SHORTEST_ATTEMPT_MS = 250;

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
      if (!isLate || leftMs() <= SHORTEST_ATTEMPT_MS) throw error;
    }
  }
}
