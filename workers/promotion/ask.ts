import type { End } from '../../shared/domain/work.ts';
import type { ErrorCode, ErrorSource } from '../../shared/errors/catalogue.ts';
import {
  type Call,
  type Provider,
  ProviderError,
  type ProviderFault,
  type StructuredAnswer,
  type StructuredQuestion,
} from '../providers/provider.ts';
import type { Allowance } from '../work/handler.ts';

/** With less time left another attempt is pointless. */
const SHORTEST_ATTEMPT_MS = 250;

const FAILURES: Record<ProviderFault, { code: ErrorCode; source?: ErrorSource }> = {
  timeout: { code: 'job_timeout', source: 'provider' },
  not_configured: { code: 'provider_not_configured' },
  rate_limited: { code: 'provider_rate_limited' },
  failed: { code: 'provider_failed' },
};

/** How a promotion ends when its provider fails. What it has stored until then stays. */
export function failureOf({ fault }: ProviderError): End<never> {
  return { state: 'failed', ...FAILURES[fault] };
}

/** Asks a language model, again after a timeout while there is time. Rejects as `Provider.ask` does. */
export async function askInTime<Answer>(
  ask: NonNullable<Provider['ask']>,
  question: StructuredQuestion<Answer>,
  call: Pick<Call, 'model' | 'charge'>,
  { signal, leftMs }: Allowance,
  providerTimeoutMs: number,
): Promise<StructuredAnswer<Answer>> {
  for (;;) {
    try {
      const timeoutMs = Math.min(providerTimeoutMs, leftMs());
      return await ask(question, { ...call, signal, timeoutMs });
    } catch (error) {
      const again =
        error instanceof ProviderError && error.fault === 'timeout' && leftMs() > SHORTEST_ATTEMPT_MS;
      if (!again) throw error;
    }
  }
}

/**
 * Promotes one piece after the other. Resolves with the failure of the provider that ended it, or that some piece had: an
 * answer that cannot be used is that piece's own doing, and holds up no others. After two outages in a row it ends.
 */
export async function promoteEach<Piece>(
  pieces: readonly Piece[],
  promote: (piece: Piece) => Promise<void>,
): Promise<ProviderError | undefined> {
  let failure: ProviderError | undefined;
  let failedBefore = false;
  for (const piece of pieces) {
    try {
      await promote(piece);
      failedBefore = false;
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      failure = error;
      if (error.fault !== 'failed' || (error.outage && failedBefore)) break;
      failedBefore = error.outage;
    }
  }
  return failure;
}
