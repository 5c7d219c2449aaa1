import { defineEntity, p } from '@mikro-orm/core';
import { TextArray } from './text-array.ts';

/** What all workers know about a provider's model: whether it may be called now. */
export const ProviderCircuit = defineEntity({
  name: 'ProviderCircuit',
  tableName: 'provider_circuits',
  properties: {
    provider: p.text().primary(),
    model: p.text().primary(),
    /** Since the last success. */
    failures: p.integer().default(0),
    /** Whose calls failed since then, as hashes. */
    parties: p.type(TextArray).$type<string[]>(),
    /** Why the last call failed. */
    fault: p.text(),
    /** The provider asked to be left alone until then. */
    pausedUntil: p.datetime(3).nullable(),
    /** When one call may probe it; null while the circuit is closed. */
    probeAt: p.datetime(3).nullable(),
  },
});
