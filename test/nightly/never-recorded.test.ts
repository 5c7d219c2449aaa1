import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Static } from 'typebox';
import { inPages } from '../../shared/db/steps.ts';
import type { ContextResponse } from '../../shared/schemas/memory-context.ts';
import { signUp, type UserClient } from '../support/account.ts';
import { addEpisode, factsOf } from '../support/facts-promotion.ts';
import { forget } from '../support/memory.ts';
import { pluck } from '../support/pluck.ts';
import { promote } from '../support/promotion.ts';
import { useSystem } from '../support/system.ts';

/**
 * Sentences that a run uses at most once, because each contradicts its neighbour: a value that is stated again after
 * its contradiction is a second fact, and deleting the contradiction does not merge the two facts.
 */
const UNREPEATED_SENTENCES = [
  'We use pnpm as package manager.',
  'We switched to npm as package manager.',
  'I live in Bremen.',
  'I moved to Lisbon.',
];
const REPEATABLE_SENTENCES = [
  'I never use semicolons in TypeScript.',
  'Please run the tests again.',
  'The build is red.',
];
/** Episodes in which a deleted line is said again in another episode. */
const REPEATED_ELSEWHERE = [
  [lineOf('I never use semicolons in TypeScript.', true), lineOf('We use pnpm as package manager.')],
  [lineOf('I never use semicolons in TypeScript.')],
];
/** Episodes in which a deleted line is said again in its own episode and in another episode. */
const REPEATED_IN_EPISODE = [
  [lineOf('I never use semicolons in TypeScript.'), ...(REPEATED_ELSEWHERE[0] ?? [])],
  ...REPEATED_ELSEWHERE.slice(1),
];
const QUESTION = 'Which package manager do we use for the tests?';

function lineOf(line: string, gone = false) {
  return { said: line, gone };
}

describe('deleted raw rows', () => {
  const system = useSystem({
    workerEntry: ['workers/main.ts', 'all'],
    env: { OPENAI_API_KEY: '', OPENAI_BASE_URL: '', DEFAULT_MODEL: 'local' },
  });

  it('after raw rows are deleted and facts promoted, memory is as if the rows had never been recorded', async () => {
    const line = fc.record({
      said: fc.constantFrom(...UNREPEATED_SENTENCES, ...REPEATABLE_SENTENCES),
      gone: fc.boolean(),
    });
    const lines = fc.uniqueArray(line, {
      minLength: 1,
      maxLength: 8,
      comparator: (a, b) => a.said === b.said && UNREPEATED_SENTENCES.includes(a.said),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(lines, fc.integer({ min: 1, max: 3 })).map(([all, size]) => [...inPages(all, size)]),
        async (episodes) => {
          const [deleting, never] = [await signUp(system), await signUp(system)];
          const deleted = [];
          for (const [day, lines] of episodes.entries()) {
            const { rows } = await addEpisode(deleting, pluck(lines, 'said'), day + 1);
            deleted.push(...rows.filter((_, place) => lines[place]?.gone));
            const kept = lines.map(({ said, gone }, second) => ({ said, gone, second }));
            const left = kept.filter(({ gone }) => !gone);
            if (left.length > 0)
              await addEpisode(
                never,
                left.map(({ said, second }) => ({
                  content: said,
                  kind: 'reply',
                  occurred_at: at(day + 1, second),
                })),
                day + 1,
              );
          }
          await learn(deleting);
          for (const row of deleted) await forget(deleting, 'raw', row);
          for (const person of [deleting, never]) await learn(person);
          assert.deepEqual(await knowledgeOf(deleting), await knowledgeOf(never));
        },
      ),
      { numRuns: 10, examples: [[REPEATED_ELSEWHERE], [REPEATED_IN_EPISODE]] },
    );
  });

  const at = (day: number, second: number) => new Date(Date.UTC(2026, 4, day, 12, 0, second)).toISOString();

  async function learn(person: UserClient): Promise<void> {
    const { status, text } = await promote(person, 'facts');
    assert.equal(status, 200, text);
  }

  /** Returns the person's facts and a context, without ids and without times that come from the clock. */
  async function knowledgeOf(person: UserClient): Promise<object> {
    const facts = await factsOf(person);
    const textOf = new Map(facts.map(({ id, text }) => [id, text]));
    const { body, status } = await person.post<Static<typeof ContextResponse>>('/api/memory/context/', {
      query: QUESTION,
      recency_minutes: null,
      max_raw: 3,
    });
    assert.equal(status, 200);
    return {
      facts: facts
        .map(({ text, slot, kind, confidence, superseded_by, valid_from, valid_to, episode_ids }) => ({
          text,
          slot,
          kind,
          confidence,
          superseded: textOf.get(superseded_by ?? '') ?? null,
          valid_from,
          valid_to,
          episodes: episode_ids.length,
        }))
        .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
      context: {
        facts: pluck(body.facts, 'text').sort(),
        episodes: body.episodes.map(({ started_at, raw_ids }) => [started_at, raw_ids.length]),
        raw: body.raw.map(({ content, occurred_at }) => [content, occurred_at]),
        counts: body.meta.counts,
      },
    };
  }
});
