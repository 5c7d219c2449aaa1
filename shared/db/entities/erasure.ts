import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { expressionIndexes } from './expression-indexes.ts';

/**
 * Something that a person erased, without its text. No foreign key, because the entry of an account outlives it. A
 * restored older database takes over the entries that it lacks. Promotion reads those of statements.
 */
export const Erasure = defineEntity({
  name: 'Erasure',
  tableName: 'erasures',
  properties: {
    /** `NO_ACCOUNT` for an erased account. */
    accountId: p.uuid().primary(),
    /** `Erased`. */
    what: p.text().primary(),
    /** An id, or a hash; empty for the profile. */
    subject: p.text().primary(),
    erasedAt: p.datetime(3),
    /** True in a restored database until the row is erased there too. */
    pending: p.boolean().default(false),
  },
  indexes: [
    { name: 'erasures_erased_at', properties: ['erasedAt'] },
    ...expressionIndexes('erasures', { pending: `("account_id") where pending` }),
  ],
});
export type Erasure = InferEntity<typeof Erasure>;
