import assert from 'node:assert/strict';
import type { Likelihood } from '../../shared/domain/likelihood.ts';
import type { PredictionResponse } from '../../shared/schemas/predictions.ts';
import { type AppClient, predictionBody, type Reply } from '../support/client.ts';
import {
  contentFilter,
  empty,
  html,
  huge,
  json,
  loneSurrogate,
  message,
  nul,
  ok,
  raw,
  refusal,
  reset,
  type Step,
  status,
  truncatedJson,
} from '../support/fake-provider.ts';
import { useSystem } from '../support/system.ts';
import { alterApp } from '../support/time-travel.ts';

type Answer = Reply<PredictionResponse>;

const ENVELOPE_CHARS = 10_000;
/** Token budget of a provider call, and the number of Latin letters that fit into it. */
const BUDGET = { tokens: 100, letters: 400 };
const MAX_COMPLETION_CHARS = 2000;
/** Half of the deadline of 10 s. */
const FAST_MS = 5000;

describe('suggested or abstained', () => {
  const env = { CONTEXT_ENVELOPE_CHARS: `${ENVELOPE_CHARS}`, CONTEXT_BUDGET_TOKENS: `${BUDGET.tokens}` };
  const system = useSystem({ env });
  beforeEach(() => system.provider.reset());

  describe('suggestions', () => {
    it('a draft and its completion together are the intended text, without a doubled space', async () => {
      for (const [draft, continuation, seen] of [
        ['Please send', ' the report', 'Please send the report'],
        ['Please send ', ' the report', 'Please send the report'],
        ['Please sen', 'd the report', 'Please send the report'],
        ['Please send', '\nThank you', 'Please send\nThank you'],
      ] as const) {
        const answer = await ask(ok({ continuation }), { draft: { text: draft, revision: 1 } });
        assert.deepEqual([answer.status, answer.body.status], [200, 'suggested']);
        assert.equal(draft + answer.body.completion, seen);
        assert.equal(answer.body.usage.prediction_units, 1);
      }
    });

    const next = (text: string) => message({ content: JSON.stringify({ next: text }) });
    const forms: [form: string, step: Step, draft: string, completion: string][] = [
      ['a separated grade', next('4: Monday at ten'), 'Let us meet on', ' Monday at ten'],
      ['no grade', next('Monday at ten'), 'Let us meet on', ' Monday at ten'],
      ['no JSON', message({ content: '4 Monday at ten' }), 'Let us meet on', ' Monday at ten'],
      ['the begun word again', next('4reschedule it'), 'I need to re', 'schedule it'],
      ['the draft again', next('4 LET US meet on Monday'), 'Let us  meet on', ' Monday'],
      ['no space between words', next('4the report'), 'Please send', ' the report'],
      ['two paragraphs', next('4 the report\n\nThank you'), 'Please send', ' the report'],
      ["line ends unlike the draft's", next('4 two\nthree'), 'zero\r\none', ' two\r\nthree'],
      ['its end cut off', message({ content: '{"next":"4 the rep or' }, 'length'), 'Send', ' the rep'],
    ];
    for (const [form, step, text, completion] of forms)
      it(`a prediction suggests the text of an answer with ${form}, for one call and one unit`, async () => {
        const { body } = await ask(step, { draft: { text, revision: 1 } });
        assert.deepEqual([body.completion, body.usage.prediction_units], [completion, 1]);
        assert.equal(system.provider.calls.length, 1);
      });

    it('in the mode next_prompt, the completion is the whole prompt, including the text of the draft', async () => {
      const mode = 'next_prompt';
      const alone = await ask(ok({ continuation: 'Now write the tests' }), {
        mode,
        draft: { text: '', revision: 1 },
        messages: [{ role: 'assistant', content: 'Done.' }],
      });
      assert.equal(alone.body.completion, 'Now write the tests');
      const begun = await ask(ok({ continuation: ' write the tests' }), {
        mode,
        draft: { text: 'Now', revision: 1 },
      });
      assert.equal(begun.body.completion, 'Now write the tests');
    });

    it('a next prompt is suggested from an artifact alone', async () => {
      const answer = await ask(ok({ continuation: 'Shorten the second slide' }), {
        mode: 'next_prompt',
        draft: { text: ' \n', revision: 1 },
        artifact: { kind: 'slides', id: 'a', revision: '1', summary: 'Two slides' },
      });
      assert.deepEqual(
        [answer.body.status, answer.body.completion],
        ['suggested', 'Shorten the second slide'],
      );
    });

    it('a prediction keeps four-byte characters whole, in drafts and completions', async () => {
      const draft = { text: '𝒢𝓇ℯ𝒶𝓉 👩‍👩‍👧‍👦 ', revision: 1 };
      const answer = await ask(ok({ continuation: '👍🏽𠮷' }), { draft, user_id: '𠮷'.repeat(200) });
      assert.deepEqual([answer.status, answer.body.completion], [200, '👍🏽𠮷'], answer.text);
      assert.equal(system.provider.calls[0]?.record.draft, draft.text);
    });

    it('a suggestion of more than 2000 code points is cut at the end of a word', async () => {
      const answer = await ask(ok({ continuation: ' extraordinary tests'.repeat(200) }));
      const { completion } = answer.body;
      assert.match(completion, /^extraordinary( tests| extraordinary)*$/);
      assert.ok(completion.length <= MAX_COMPLETION_CHARS);
      assert.ok(completion.length > MAX_COMPLETION_CHARS - ' extraordinary'.length);
    });

    it('a suggestion of 2000 code points is kept whole, and a longer single word is cut to 2000 code points', async () => {
      for (const [continuation, expected] of [
        ['𠮷'.repeat(MAX_COMPLETION_CHARS), '𠮷'.repeat(MAX_COMPLETION_CHARS)],
        ['𠮷'.repeat(MAX_COMPLETION_CHARS + 1), '𠮷'.repeat(MAX_COMPLETION_CHARS)],
        ['x'.repeat(MAX_COMPLETION_CHARS + 1), 'x'.repeat(MAX_COMPLETION_CHARS)],
      ] as const)
        assert.equal((await ask(ok({ continuation }))).body.completion, expected);
    });

    it('a predicted next prompt has at most 2000 code points, including the words of its draft', async () => {
      const { body } = await ask(ok({ continuation: ' extraordinary tests'.repeat(200) }), {
        mode: 'next_prompt',
        draft: { text: 'Write', revision: 1 },
      });
      assert.match(body.completion, /^Write( tests| extraordinary)+$/);
      assert.ok(body.completion.length <= MAX_COMPLETION_CHARS);
      assert.ok(body.completion.length > MAX_COMPLETION_CHARS - ' extraordinary'.length);
    });

    it("a prediction of a next prompt abstains, at no charge, if the prompt's first 2000 code points all come from the draft", async () => {
      const { body } = await ask(ok({ continuation: ' and so on' }), {
        mode: 'next_prompt',
        draft: { text: 'word '.repeat(500).trim(), revision: 1 },
      });
      assert.deepEqual([body.status, body.completion, body.usage.prediction_units], ['abstained', '', 0]);
    });

    it('a completion may repeat an earlier message, or extend or shorten the last message', async () => {
      const messages = [
        { role: 'user', content: 'Ship it on Friday' },
        { role: 'assistant', content: 'Shall I ship it?' },
      ];
      for (const continuation of ['Ship it on Friday', 'Shall I ship it? Yes', 'Shall I']) {
        const { body } = await ask(ok({ continuation }), {
          mode: 'next_prompt',
          draft: { text: '', revision: 1 },
          messages,
        });
        assert.deepEqual([body.status, body.completion], ['suggested', continuation]);
      }
    });
  });

  describe('abstentions', () => {
    const messages = [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Ship it to the Straße on Friday' },
    ];
    const blank = { text: ' \t\n\u200b', revision: 1 };
    const draft = { text: 'Please send', revision: 1 };
    const cases: Record<string, [step: Step, part?: object]> = {
      'when the model is not sure enough': [ok({ likelihood: 'unlikely' })],
      'when the model answers with an empty continuation': [ok({ continuation: '' })],
      'when the model answers with white space': [ok({ continuation: ' \n\u00a0' })],
      'when the model answers with an ellipsis': [ok({ continuation: '…' })],
      'when the model answers with one word over and over': [ok({ continuation: ' the the the the' })],
      'when the model answers with a character that could not be decoded': [
        ok({ continuation: ' Mond\ufffdy' }),
      ],
      'when the model answers with NUL': [nul()],
      'when the model answers with a lone surrogate': [loneSurrogate()],
      'when the model answers with no content': [message({ content: null })],
      'when the model answers with an empty text': [message({ content: '' })],
      'when the model refuses': [refusal()],
      "when the model's answer is filtered": [contentFilter()],
      'when the model returns only the draft': [ok({ continuation: 'Please send' }), { draft }],
      'when the model returns only the draft with other spacing and case': [
        ok({ continuation: '  PLEASE send\n' }),
        { draft },
      ],
      'when the model returns the whole last message': [
        ok({ continuation: 'Ship it to the Straße on Friday' }),
        { mode: 'next_prompt', draft: { text: '', revision: 1 }, messages },
      ],
      'when the model returns the whole last message with other spacing and case': [
        ok({ continuation: ' ship it TO THE STRASSE on friday ' }),
        { mode: 'next_prompt', draft: { text: '', revision: 1 }, messages },
      ],
      'when the model returns the whole last message after a draft': [
        ok({ continuation: 'Ship it to the Straße on Friday' }),
        { draft: { text: 'Ok. ', revision: 1 }, messages },
      ],
    };
    for (const [when, [step, part]] of Object.entries(cases)) {
      it(`a prediction abstains ${when}, with an empty completion and no charge`, async () => {
        expectAbstained(await ask(step, part));
        assert.equal(system.provider.calls.length, 1);
      });
    }

    for (const [what, part] of [
      ['complete_draft without a draft', { draft: { text: '', revision: 1 } }],
      ['complete_draft with a blank draft, even if there are messages', { draft: blank, messages }],
      ['next_prompt with a blank draft, no message and no artifact', { mode: 'next_prompt', draft: blank }],
    ] as const) {
      it(`a prediction with nothing to work on abstains without calling the provider: ${what}`, async () => {
        expectAbstained(await ask(ok(), part));
        assert.equal(system.provider.calls.length, 0);
      });
    }
  });

  it("a prediction abstains if its confidence is below its app's min_confidence", async () => {
    const statusAt = async (likelihood: Likelihood, minConfidence: number) => {
      // A new app for each call, since apps are cached for a second.
      const app = await system.app();
      await alterApp(system, app, `min_confidence = ${minConfidence}`);
      system.provider.next(ok({ likelihood }));
      return (await app.predict(predictionBody())).body.status;
    };
    assert.equal(await statusAt('even', 0.3), 'suggested');
    assert.equal(await statusAt('even', 0.6), 'abstained');
    assert.equal(await statusAt('likely', 0.6), 'suggested');
    assert.equal(await statusAt('guess', 0), 'suggested');
    assert.equal(await statusAt('almost_certain', 1), 'abstained');
  });

  describe('context_truncated', () => {
    const fits = 'x'.repeat(BUDGET.letters / 2);

    it('context_truncated is false when draft and messages just fit, and the provider gets all of them', async () => {
      const { body } = await ask(ok(), {
        draft: { text: fits, revision: 1 },
        messages: [{ role: 'user', content: fits }],
      });
      assert.equal(body.context_truncated, false);
      assert.equal(system.provider.calls[0]?.record.messages[0]?.content, fits);
    });

    it('context_truncated is true when the oldest message was dropped', async () => {
      const { body } = await ask(ok(), {
        draft: { text: fits, revision: 1 },
        messages: [
          { role: 'user', content: 'oldest' },
          { role: 'user', content: fits },
        ],
      });
      assert.equal(body.context_truncated, true);
      const { record } = system.provider.calls[0] ?? assert.fail('not called');
      assert.deepEqual([record.draft, record.messages.map(({ content }) => content)], [fits, [fits]]);
    });

    it('context_truncated is true when the draft alone is too long, and the provider gets the end of the draft', async () => {
      const text = `${'x'.repeat(BUDGET.letters)} and so on`;
      const { body } = await ask(ok(), { draft: { text, revision: 1 } });
      assert.deepEqual([body.context_truncated, body.status], [true, 'suggested']);
      const sent = system.provider.calls[0]?.record.draft ?? '';
      assert.ok(sent.length > 0 && sent.length < text.length && text.endsWith(sent), sent);
    });
  });

  describe('refusals', () => {
    it('a mode that an operator disabled for the app is 404 feature_disabled', async () => {
      const statuses = async (disabled: string) => {
        const app = await system.app();
        await alterApp(system, app, `disabled = '${disabled}'`);
        const modes = ['complete_draft', 'next_prompt'];
        const replies = await Promise.all(modes.map((mode) => app.predict(predictionBody({ mode }))));
        return replies.map(({ status, code }) => (status === 200 ? 200 : `${status} ${code}`));
      };
      const off = '404 feature_disabled';
      assert.deepEqual(await statuses('{predictions}'), [off, off]);
      assert.deepEqual(await statuses('{complete_draft}'), [off, 200]);
      assert.deepEqual(await statuses('{next_prompt}'), [200, off]);
      assert.deepEqual(await statuses('{connections}'), [200, 200]);
      assert.deepEqual(await statuses('{}'), [200, 200]);
    });

    it('a request whose texts together have more code points than CONTEXT_ENVELOPE_CHARS is 413 context_too_large', async () => {
      const full = {
        draft: { text: '𠮷'.repeat(7000), revision: 1 },
        messages: [
          { role: 'user', content: '𠮷'.repeat(1000) },
          { role: 'tool', content: 'y'.repeat(500) },
        ],
        artifact: {
          kind: 'other',
          id: 'a',
          revision: '1',
          selection: '𠮷'.repeat(500),
          summary: 'z'.repeat(500),
        },
        user_preferences: '𠮷'.repeat(500),
      };
      assert.equal((await ask(ok(), full)).status, 200);
      const more: object[] = [
        { draft: { text: '𠮷'.repeat(7001), revision: 1 } },
        { messages: [...full.messages, { role: 'user', content: 'x' }] },
        { artifact: { ...full.artifact, selection: 'x'.repeat(501) } },
        { artifact: { ...full.artifact, summary: 'x'.repeat(501) } },
        { user_preferences: 'x'.repeat(501) },
      ];
      system.provider.reset();
      for (const part of more) {
        const answer = await ask(ok(), { ...full, ...part });
        assert.equal(
          `${answer.status} ${answer.code}`,
          '413 context_too_large',
          JSON.stringify(Object.keys(part)),
        );
      }
      assert.equal(system.provider.calls.length, 0);
    });

    it("the length limits of a request's texts count code points, and longer texts are 422", async () => {
      const draft = (length: number) => ({ draft: { text: '𠮷'.repeat(length), revision: 1 } });
      assert.equal((await ask(ok(), draft(8000))).status, 200);
      assert.equal((await ask(ok(), draft(8001))).status, 422);
      assert.equal((await ask(ok(), { user_id: '𠮷'.repeat(201) })).status, 422);
    });
  });

  describe('faults of the provider', () => {
    const faults: Record<string, [expected: string, ...Step[]]> = {
      'a rejected key': ['503 provider_not_configured', status(401), status(403)],
      'a rate limit': ['503 provider_rate_limited', status(429)],
      'a rejected request': ['502 provider_failed', status(400), status(404), status(422)],
      'an error status': ['502 provider_failed', status(500), status(503), status(529)],
      'a redirect': ['502 provider_failed', status(302, { location: 'http://127.0.0.1:1/' })],
      'an answer that is not JSON': [
        '502 provider_failed',
        html(),
        empty(),
        truncatedJson(),
        raw('not json'),
      ],
      'JSON of the wrong shape': [
        '502 provider_failed',
        json(null),
        json([]),
        json({ choices: [] }),
        json(7),
      ],
      'a completion of the wrong shape': [
        '502 provider_failed',
        message({ content: '{}' }),
        message({ content: '<think>Perhaps the report' }),
        message({ content: 7 }),
      ],
      'a cut-off answer': ['502 provider_failed', message({ content: '{"next":"' }, 'length')],
      'an endless answer': ['502 provider_failed', huge()],
      'a connection that breaks': ['502 provider_failed', reset()],
    };
    for (const [what, [expected, ...steps]] of Object.entries(faults)) {
      it(`a provider fault is reported within 5 s and costs nothing: ${what} is ${expected}`, async () => {
        const app = await system.app();
        for (const step of steps) {
          const answer = await ask(step, {}, app);
          assert.equal(`${answer.status} ${answer.code}`, expected);
          assert.equal(answer.headers.get('x-error-source'), 'provider');
          assert.ok(answer.tookMs < FAST_MS, `took ${answer.tookMs} ms`);
          if (answer.status === 503) assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
        }
        // A cut-off answer is retried once, with a higher token limit for reasoning; a rejected request without the
        // optional parameters.
        const isRetried = ['a cut-off answer', 'a rejected request'].includes(what);
        assert.equal(system.provider.calls.length, steps.length * (isRetried ? 2 : 1));
        await expectNothingCharged(app);
      });
    }

    it('a provider that fails the calls of one app does not affect the calls of another app', async () => {
      const [unlucky, lucky] = [await system.app(), await system.app()];
      system.provider.respond((response, call) =>
        (call.record.draft === 'Fail' ? status(500) : ok())(response, call),
      );
      const failing = Array.from({ length: 40 }, () =>
        unlucky.predict(predictionBody({ draft: { text: 'Fail', revision: 1 } })),
      );
      const answers = Array.from({ length: 10 }, () => lucky.predict(predictionBody()));
      assert.deepEqual(new Set((await Promise.all(failing)).map(({ status }) => status)), new Set([502]));
      assert.deepEqual(new Set((await Promise.all(answers)).map(({ status }) => status)), new Set([200]));
    });
  });

  /** Sends one request, by default as a new app. The provider answers it with `step`. */
  async function ask(step: Step, part: object = {}, app?: AppClient): Promise<Answer> {
    system.provider.respond(step);
    return (app ?? (await system.app())).predict(predictionBody(part));
  }

  function expectAbstained({ status, body, text }: Answer): void {
    assert.equal(status, 200, text);
    assert.deepEqual([body.status, body.completion, body.usage.prediction_units], ['abstained', '', 0]);
  }

  async function expectNothingCharged(app: AppClient): Promise<void> {
    const { prediction_units, reserved_units } = (await app.usage()).body;
    assert.deepEqual([prediction_units, reserved_units], [0, 0]);
  }
});
