import assert from 'node:assert/strict';
import fc from 'fast-check';
import { envelopeSize, fitContext } from '../../../shared/domain/context-envelope.ts';
import type { Message } from '../../../shared/schemas/predictions.ts';

type Request = Parameters<typeof fitContext>[0];

const messageOf = (content: string): Message => ({ role: 'user', content, origin: 'human' });

function request(fields: Partial<Omit<Request, 'draft'>> & { draft?: string } = {}): Request {
  const { draft = '', ...others } = fields;
  return {
    mode: 'complete_draft',
    draft: { text: draft, revision: 1 },
    messages: [],
    artifact: null,
    language: 'auto',
    user_preferences: '',
    ...others,
  };
}

function artifact(selection: string, summary: string) {
  return { kind: 'slides', id: 'id', revision: 'r', selection, summary } as const;
}

const letters = (tokens: number, letter = 'a') => letter.repeat(4 * tokens);

describe('fitContext', () => {
  it('fitContext drops older messages first, then cuts summary, preferences, selection, last message and draft', () => {
    const given = request({
      draft: letters(10, 'd'),
      messages: [messageOf('old'), messageOf(letters(10, 'm'))],
      artifact: artifact(letters(10, 's'), letters(10, 'y')),
      user_preferences: letters(10, 'p'),
    });
    const sizes = [45, 35, 25, 15, 5].map((budget) => {
      const { task, truncated } = fitContext(given, budget);
      assert.equal(truncated, true);
      const { summary = '', selection = '' } = task.artifact ?? {};
      const content = task.messages.map((message) => message.content).join('');
      return [summary, task.preferences, selection, content, task.draft].map((text) => text.length / 4);
    });
    assert.deepEqual(sizes, [
      [5, 10, 10, 10, 10],
      [0, 5, 10, 10, 10],
      [0, 0, 5, 10, 10],
      [0, 0, 0, 5, 10],
      [0, 0, 0, 0, 5],
    ]);
  });

  it('fitContext counts one token per Chinese character, half a token per Greek letter and a quarter per Latin letter', () => {
    for (const [text, tokens] of [
      ['報告書', 3],
      ['αβγδ', 2],
      ['abcé', 1],
      ['😀', 1],
    ] as const) {
      assert.equal(fitContext(request({ draft: text }), tokens).truncated, false, text);
      assert.equal(fitContext(request({ draft: `${text}a` }), tokens).truncated, true, text);
    }
  });

  it('fitContext splits no surrogate pair, and reports truncation if and only if a text was shortened', () => {
    const text = fc.string({ unit: 'binary', maxLength: 40 });
    const budget = fc.integer({ min: 0, max: 120 });
    fc.assert(
      fc.property(
        text,
        fc.array(text, { maxLength: 5 }),
        text,
        budget,
        (draft, contents, summary, tokens) => {
          const given = request({
            draft,
            messages: contents.map(messageOf),
            artifact: artifact('', summary),
          });
          const { task, truncated } = fitContext(given, tokens);
          assert.equal(task.draftHead + task.draft, draft);
          assert.ok(summary.startsWith(task.artifact?.summary ?? '!'));
          const kept = task.messages.map((message) => message.content);
          for (const [i, content] of kept.toReversed().entries())
            assert.ok(contents.toReversed()[i]?.endsWith(content));
          const shown = [task.draft, ...kept, task.artifact?.summary ?? ''];
          assert.ok(shown.every((each) => each.isWellFormed()));
          const left = envelopeSize(given) - shown.reduce((sum, each) => sum + [...each].length, 0);
          assert.equal(truncated, left > 0);
        },
      ),
    );
  });
});
