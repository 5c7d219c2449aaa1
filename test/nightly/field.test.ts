import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { FactResponse } from '../../shared/schemas/memory.ts';
import { signUp } from '../support/account.ts';
import { add } from '../support/memory.ts';
import { promote } from '../support/promotion.ts';
import { useSystem } from '../support/system.ts';

/** Sentences of one person a list, whether a fact of each should be current, and why. */
const SAID: [text: string, expected: 'fact' | 'none', note: string][][] = JSON.parse(
  readFileSync(new URL('field/memory.json', import.meta.url), 'utf8'),
);

/** Facts and a question about each, by language. */
const ASKED: Record<string, [fact: string, question: string][]> = JSON.parse(
  readFileSync(new URL('field/recall.json', import.meta.url), 'utf8'),
);

describe('cases of public bug reports', () => {
  const system = useSystem({
    workerEntry: ['workers/main.ts', 'all'],
    env: { SUPPORTED_MODELS: 'fake-model,local' },
  });

  for (const [nth, said] of SAID.entries())
    it(`promotion without a model keeps what lasts, and nothing ends it that only shares a word (person ${nth + 1})`, async () => {
      const person = await signUp(system);
      for (const [n, [content]] of said.entries()) {
        const at = { session_id: `said-${n}`, occurred_at: new Date(Date.UTC(2026, 1, 1, n)).toISOString() };
        await add(person, 'raw', { content, kind: 'message', role: 'human', origin: 'human', ...at });
      }
      for (const tier of ['episodes', 'facts'] as const)
        assert.equal((await promote(person, tier, { model: 'local', limit: 200 })).status, 200);
      const { body } = await person.request<{ results: FactResponse[] }>(
        'GET',
        '/api/memory/facts/?limit=200',
      );
      const current = body.results.filter((one) => one.superseded_by === null && one.valid_to === null);
      const isCurrent = (text: string) => current.some((one) => one.text.includes(text.replace(/\.$/, '')));
      assert.deepEqual(
        said.map(([text, , note]) => [text, isCurrent(text) ? 'fact' : 'none', note]),
        said,
      );
    });

  for (const [language, asked] of Object.entries(ASKED))
    it(`a question finds its fact in the context and by search (${language})`, async () => {
      const person = await signUp(system);
      for (const [text] of asked) await add(person, 'facts', { text });
      for (const [text, query] of asked) {
        const context = await person.post<{ facts: FactResponse[] }>('/api/memory/context/', {
          query,
          max_facts: 3,
        });
        assert.ok(
          context.body.facts.some((one) => one.text === text),
          query,
        );
        const found = await person.get<{ results: FactResponse[] }>(
          `/api/memory/facts/?q=${encodeURIComponent(query)}&limit=3`,
        );
        assert.ok(
          found.body.results.some((one) => one.text === text),
          query,
        );
      }
    });
});
