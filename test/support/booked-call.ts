import type { LedgerEntry } from '../../shared/db/stores/provider-calls.ts';
import { newId } from '../../shared/ids.ts';

export function bookedCall(
  fields: Partial<LedgerEntry & { ageMs: number }> = {},
): LedgerEntry & { ageMs: number } {
  return {
    id: newId(),
    ageMs: 0,
    accountId: null,
    appId: null,
    kind: 'predict',
    workId: newId(),
    attempt: 1,
    model: 'fake-model',
    inputTokens: 12,
    cachedTokens: 0,
    outputTokens: 5,
    costMicrocents: null,
    aborted: false,
    outcome: 'answered',
    latencyMs: 3,
    ...fields,
  };
}
