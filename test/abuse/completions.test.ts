import assert from 'node:assert/strict';
import type { PredictionResponse } from '../../shared/schemas/predictions.ts';
import { type AppClient, predictionBody, type Reply } from '../support/client.ts';
import { ok } from '../support/fake-provider.ts';
import { useSystem } from '../support/system.ts';

/** Texts with control sequences for a terminal, or with characters that change how a text looks. */
const HOSTILE_TEXTS: Record<string, string> = {
  'an escape sequence': '\u001b[2J\u001b[H the report',
  'an escape sequence that begins with U+009B': ' the \u009b31mreport',
  backspaces: ' the report\b\b\b\b\b\bsecret',
  'a bell character': ' the report\u0007',
  'a delete character': ' the report\u007f',
  'a next-line character': ' the report\u0085',
  'a vertical tab and a form feed': ' the\v\freport',
  'a right-to-left override': ' the \u202etroper',
  'a left-to-right override': ' the \u202dreport',
  'a left-to-right embedding': ' the \u202areport\u202c',
  'a left-to-right isolate': ' the \u2066report\u2069',
};

const HARMLESS_TEXTS = [
  '\nThank you',
  '\n\t- the report',
  ' את הדו״ח\u200f ב-PDF',
  ' 👩‍👩‍👧‍👦',
  ' می\u200cخواهم',
];

const DRAFT = { text: 'Please send', revision: 1 };
const PROMPT = { mode: 'next_prompt', draft: { text: '', revision: 1 } };
const ESCAPE = '\u001b[31m';

describe('completion', () => {
  describe('of a provider', () => {
    const system = useSystem();
    let app: AppClient;
    before(async () => {
      app = await system.app();
    });

    function ask(continuation: string, part: object = { draft: DRAFT }): Promise<Reply<PredictionResponse>> {
      system.provider.respond(ok({ continuation }));
      return app.predict(predictionBody(part));
    }

    for (const [what, continuation] of Object.entries(HOSTILE_TEXTS))
      it(`a prediction abstains and costs nothing if the provider's completion has ${what}`, async () => {
        for (const part of [{ draft: DRAFT }, { draft: { text: 'Please send ', revision: 1 } }, PROMPT]) {
          const messages = [{ role: 'assistant', content: 'Done.' }];
          const { status, body } = await ask(continuation, { messages, ...part });
          assert.deepEqual(
            [status, body.status, body.completion],
            [200, 'abstained', ''],
            JSON.stringify(part),
          );
        }
        const { prediction_units, reserved_units } = (await app.usage()).body;
        assert.deepEqual([prediction_units, reserved_units], [0, 0]);
      });

    it('a completion of a provider may contain line breaks, tabs, joiners and right-to-left marks', async () => {
      for (const continuation of HARMLESS_TEXTS)
        assert.equal((await ask(continuation)).body.completion, continuation);
    });

    it('a draft may contain control characters; if the model repeats the draft, the completion omits the repetition', async () => {
      const draft = { text: `first\r\n${ESCAPE}second`, revision: 1 };
      for (const continuation of [' third', `${draft.text} third`])
        assert.equal((await ask(continuation, { draft })).body.completion, ' third');
    });

    it('a `next_prompt` prediction abstains if its prompt would repeat control characters of the draft', async () => {
      const draft = { text: `Please ${ESCAPE}send`, revision: 1 };
      const { status, body } = await ask(' the report', { mode: 'next_prompt', draft });
      assert.deepEqual([status, body.status, body.completion], [200, 'abstained', '']);
    });
  });

  describe('of the built-in predictor', () => {
    const system = useSystem({ env: { DEFAULT_MODEL: 'local' } });
    let app: AppClient;
    before(async () => {
      app = await system.app();
    });

    /**
     * Makes a chat in which an agent repeats one question. The person answers with each of the texts in turn, but not
     * the last question.
     */
    function makeChat(...contents: string[]) {
      const asked = { role: 'assistant', content: 'Done. Shall I go on?' };
      const said = contents.map((content) => ({ role: 'user', content, origin: 'human' }));
      return [...said.flatMap((message) => [asked, message]), asked];
    }

    it('a completion of the built-in predictor never has control characters of the draft or the messages', async () => {
      const learned = 'Please summarise the quarterly sales report for the board';
      for (const hostile of Object.values(HOSTILE_TEXTS)) {
        const messages = makeChat(learned, `${learned}${hostile} now`, `Well ${hostile} ${learned}`);
        for (const mode of ['complete_draft', 'next_prompt'])
          for (const text of ['', 'Please summarise the quart', `${hostile} Please summarise the quart`]) {
            const { status, body } = await app.predict(
              predictionBody({ mode, messages, draft: { text, revision: 1 } }),
            );
            assert.equal(status, 200);
            assert.doesNotMatch(body.completion, /[^\P{Cc}\t\n]|[\u202a-\u202e\u2066-\u2069]/u);
          }
      }
    });

    it('the built-in predictor never suggests an earlier prompt that contains control characters', async () => {
      const messages = makeChat('continue', `${ESCAPE}continue`);
      const { body } = await app.predict(predictionBody({ ...PROMPT, messages }));
      assert.deepEqual([body.status, body.completion], ['suggested', 'continue']);
    });
  });
});
