import type { LedgerEntry } from '../../shared/db/stores/provider-calls.ts';
import { newId } from '../../shared/ids.ts';

export function bookedCall(
  fields: Partial<LedgerEntry & { age_ms: number }> = {},
): LedgerEntry & { age_ms: number } {
  return {
    id: newId(),
    age_ms: 0,
    account_id: null,
    app_id: null,
    kind: 'predict',
    work_id: newId(),
    attempt: 1,
    model: 'fake-model',
    input_tokens: 12,
    cached_tokens: 0,
    output_tokens: 5,
    cost_microcents: null,
    aborted: false,
    outcome: 'answered',
    latency_ms: 3,
    ...fields,
  };
}
