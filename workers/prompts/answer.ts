import type { Static, TSchema } from 'typebox';
import { compile, type Validator } from '../../shared/schemas/validator.ts';

/**
 * Tokens that the answer to each question may have: several times what a usual one has, because the thoughts of a reasoning
 * model count as well. Some models can write no more than 4096, and refuse a higher limit.
 */
export const OUTPUT_TOKENS = { prediction: 2048, reply: 4096, episode: 2048, facts: 4096 } as const;

/**
 * Compiles the check of an answer. A list may be longer than its `maxItems`, which not every server keeps to: better to look
 * at no more of it than to ask again.
 */
export function compileAnswer<T extends TSchema>(schema: T): Validator<Static<T>> {
  const unbounded: T = JSON.parse(JSON.stringify(schema), (key, value) =>
    key === 'maxItems' ? undefined : value,
  );
  return compile(unbounded);
}
