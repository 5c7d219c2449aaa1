import { setGlobalProxyFromEnv } from 'node:http';
import type { AdminConfig } from '../../shared/config/config.ts';
import { truncateWithEllipsis } from '../../shared/text/cut.ts';
import { fetchFailureOf } from './checks.ts';

const TIMEOUT_MS = 10_000;
const WORDS_MAX = 300;
const SCHEMA = {
  type: 'object',
  properties: { word: { type: 'string' } },
  required: ['word'],
  additionalProperties: false,
};
/** Parameters of our calls besides those that every server knows. */
const OPTIONAL_PARTS = {
  reasoning_effort: 'low',
  response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema: SCHEMA } },
};

/**
 * Asks a model for a word, first plainly, then as our calls do. Returns what the provider says against it, or undefined
 * if it answers both. No log has these words, because with a person's request they may quote the person.
 */
export async function complaintOf(
  openai: NonNullable<AdminConfig['openai']>,
  model: string,
): Promise<string | undefined> {
  const restoreProxy = openai.proxy === undefined ? undefined : setGlobalProxyFromEnv({ ...openai.proxy });
  try {
    for (const parts of [{}, OPTIONAL_PARTS]) {
      const response = await fetch(`${openai.baseUrl}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${openai.apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model,
          messages: [{ role: 'user', content: 'Answer with the word ready, as JSON: {"word": "ready"}' }],
          max_completion_tokens: 32,
          ...parts,
        }),
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const words = await response.text();
      if (!response.ok) return `${response.status} ${truncateWithEllipsis(words.trim(), WORDS_MAX)}`;
    }
    return undefined;
  } catch (error) {
    return fetchFailureOf(error);
  } finally {
    restoreProxy?.();
  }
}
