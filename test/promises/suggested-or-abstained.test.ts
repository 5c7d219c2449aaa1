import assert from 'node:assert/strict';
import type { Likelihood } from '../../shared/domain/likelihood.ts';
import type { PredictionResponse } from '../../shared/schemas/predictions.ts';
import { type AppClient, predictionBody, type Reply } from '../support/client.ts';
import {
  contentFilter,
  empty,
  hang,
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
import { type System, startSystem } from '../support/system.ts';
import { alterApp } from '../support/time-travel.ts';

type Answer = Reply<PredictionResponse>;

const ENVELOPE = 10_000;
/** The provider gets at most 100 tokens: 400 Latin letters. */
const BUDGET = { tokens: 100, letters: 400 };
const MAX_COMPLETION = 2000;
/** The deadline is 10 s: a fault that travels as fast as an answer arrives long before it. */
const FAST_MS = 5000;

describe('suggested or abstained', () => {
  let system: System;
  before(async () => {
    const env = { CONTEXT_ENVELOPE_CHARS: `${ENVELOPE}`, CONTEXT_BUDGET_TOKENS: `${BUDGET.tokens}` };
    system = await startSystem({ env });
  });
  beforeEach(() => system.provider.reset());
  after(() => system.stop());

  describe('suggestions', () => {
    it('a prediction suggests the continuation of the draft, so that draft and completion together are what the person would see', async () => {
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

    it("a predicted next prompt is a whole message; with a draft it starts with the draft's own words", async () => {
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

    it('a prediction is suggested from an artifact alone', async () => {
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

    it('a prediction suggests characters of four bytes whole, in drafts and completions', async () => {
      const draft = { text: '𝒢𝓇ℯ𝒶𝓉 👩‍👩‍👧‍👦 ', revision: 1 };
      const answer = await ask(ok({ continuation: '👍🏽𠮷' }), { draft, user_id: '𠮷'.repeat(200) });
      assert.deepEqual([answer.status, answer.body.completion], [200, '👍🏽𠮷'], answer.text);
      assert.equal(system.provider.calls[0]?.record.draft, draft.text);
    });

    it('a suggestion has at most 2000 code points, and is cut at the end of a word', async () => {
      const answer = await ask(ok({ continuation: ' extraordinary'.repeat(300) }));
      const { completion } = answer.body;
      assert.match(completion, /^extraordinary( extraordinary)*$/);
      assert.ok(completion.length <= MAX_COMPLETION);
      assert.ok(completion.length > MAX_COMPLETION - ' extraordinary'.length);
    });

    it('a prediction suggests 2000 code points as they are, whatever their bytes, and the first 2000 of a single word', async () => {
      for (const [continuation, expected] of [
        ['𠮷'.repeat(MAX_COMPLETION), '𠮷'.repeat(MAX_COMPLETION)],
        ['𠮷'.repeat(MAX_COMPLETION + 1), '𠮷'.repeat(MAX_COMPLETION)],
        ['x'.repeat(MAX_COMPLETION + 1), 'x'.repeat(MAX_COMPLETION)],
      ] as const)
        assert.equal((await ask(ok({ continuation }))).body.completion, expected);
    });

    it("a prediction suggests a next prompt of at most 2000 code points, its draft's words included", async () => {
      const { body } = await ask(ok({ continuation: ' extraordinary'.repeat(300) }), {
        mode: 'next_prompt',
        draft: { text: 'Write', revision: 1 },
      });
      assert.match(body.completion, /^Write( extraordinary)+$/);
      assert.ok(body.completion.length <= MAX_COMPLETION);
      assert.ok(body.completion.length > MAX_COMPLETION - ' extraordinary'.length);
    });

    it('what repeats an earlier message, or more or less than the last one, is suggested', async () => {
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
      'when it answers an empty continuation': [ok({ continuation: '' })],
      'when it answers white space': [ok({ continuation: ' \n\u00a0' })],
      'when it answers nothing': [message({ content: null })],
      'when it answers an empty text': [message({ content: '' })],
      'when it refuses': [refusal()],
      'when its answer is filtered': [contentFilter()],
      'when it gives back just the draft': [ok({ continuation: 'Please send' }), { draft }],
      'when it gives back just the draft, spaced and cased otherwise': [
        ok({ continuation: '  PLEASE send\n' }),
        { draft },
      ],
      'when it gives back the whole last message': [
        ok({ continuation: 'Ship it to the Straße on Friday' }),
        { mode: 'next_prompt', draft: { text: '', revision: 1 }, messages },
      ],
      'when it gives back the whole last message, spaced and cased otherwise': [
        ok({ continuation: ' ship it TO THE STRASSE on friday ' }),
        { mode: 'next_prompt', draft: { text: '', revision: 1 }, messages },
      ],
      'when it gives back the whole last message to a draft': [
        ok({ continuation: 'Ship it to the Straße on Friday' }),
        { draft: { text: 'Ok. ', revision: 1 }, messages },
      ],
    };
    for (const [when, [step, part]] of Object.entries(cases)) {
      it(`a prediction abstains ${when}, with an empty completion and for no unit`, async () => {
        expectAbstained(await ask(step, part));
        assert.equal(system.provider.calls.length, 1);
      });
    }

    for (const [what, part] of [
      ['complete_draft without a draft', { draft: { text: '', revision: 1 } }],
      ['complete_draft with a blank draft, whatever else there is', { draft: blank, messages }],
      ['next_prompt with a blank draft, no message and no artifact', { mode: 'next_prompt', draft: blank }],
    ] as const) {
      it(`a prediction with nothing to work on abstains without a call to the provider: ${what}`, async () => {
        expectAbstained(await ask(ok(), part));
        assert.equal(system.provider.calls.length, 0);
      });
    }
  });

  it("a prediction applies the app's own min_confidence", async () => {
    const statusAt = async (likelihood: Likelihood, minConfidence: number) => {
      // A new one each time: apps are cached for a second.
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

    it('context_truncated is false when all of the text went to the provider, to the last letter', async () => {
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

    it('context_truncated is true when the draft alone is too long: its end is what goes to the provider', async () => {
      const text = `${'x'.repeat(BUDGET.letters)} and so on`;
      const { body } = await ask(ok(), { draft: { text, revision: 1 } });
      assert.deepEqual([body.context_truncated, body.status], [true, 'suggested']);
      const sent = system.provider.calls[0]?.record.draft ?? '';
      assert.ok(sent.length > 0 && sent.length < text.length && text.endsWith(sent), sent);
    });

    it('context_truncated is reported when the prediction abstains as well', async () => {
      const { body } = await ask(refusal(), { draft: { text: 'x'.repeat(BUDGET.letters + 1), revision: 1 } });
      assert.deepEqual([body.status, body.context_truncated], ['abstained', true]);
    });
  });

  describe('refusals', () => {
    it('a mode that an operator turned off for the app is 404 feature_disabled', async () => {
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

    it('a prediction with a connection that does not exist is 404 not_found', async () => {
      const answer = await ask(ok(), { connection_id: 'c-unknown' });
      assert.deepEqual([answer.status, answer.code], [404, 'not_found']);
      assert.equal(system.provider.calls.length, 0);
    });

    it('texts that together are over the envelope, in code points, are 413 context_too_large', async () => {
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

    it('a text that is too long in code points, not in bytes or in UTF-16 units, is 422', async () => {
      const draft = (length: number) => ({ draft: { text: '𠮷'.repeat(length), revision: 1 } });
      assert.equal((await ask(ok(), draft(8000))).status, 200);
      assert.equal((await ask(ok(), draft(8001))).status, 422);
      assert.equal((await ask(ok(), { user_id: '𠮷'.repeat(201) })).status, 422);
    });
  });

  describe('faults of the provider', () => {
    const faults: Record<string, [expected: string, ...Step[]]> = {
      'a rejected key': ['503 provider_not_configured', status(401), status(403)],
      'its rate limit': ['503 provider_rate_limited', status(429)],
      'a request that it does not take': ['502 provider_failed', status(400), status(404), status(422)],
      'its own failure': ['502 provider_failed', status(500), status(503), status(529)],
      'a redirect': ['502 provider_failed', status(302, { location: 'http://127.0.0.1:1/' })],
      'no JSON': ['502 provider_failed', html(), empty(), truncatedJson(), raw('not json')],
      'JSON of another shape': ['502 provider_failed', json(null), json([]), json({ choices: [] }), json(7)],
      'an answer of another shape': [
        '502 provider_failed',
        message({ content: 'Sure! The report.' }),
        message({ content: '{"continuation":" the report"}' }),
        message({ content: 7 }),
      ],
      'an answer cut off': ['502 provider_failed', message({ content: '{"next":"' }, 'length')],
      'an answer that no text can be': ['502 provider_failed', nul(), loneSurrogate()],
      'an answer without end': ['502 provider_failed', huge()],
      'a connection that breaks': ['502 provider_failed', reset()],
    };
    for (const [what, [expected, ...steps]] of Object.entries(faults)) {
      it(`a provider's fault is reported at once and charges nothing: ${what} is ${expected}`, async () => {
        const app = await system.app();
        for (const step of steps) {
          const answer = await ask(step, {}, app);
          assert.equal(`${answer.status} ${answer.code}`, expected);
          assert.equal(answer.headers.get('x-error-source'), 'provider');
          assert.ok(answer.tookMs < FAST_MS, `took ${answer.tookMs} ms`);
          if (answer.status === 503) assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
        }
        // But an answer that was cut off: once, with more room for thoughts.
        const retried = what === 'an answer cut off' ? 1 : 0;
        assert.equal(system.provider.calls.length, steps.length + retried);
        await expectNothingCharged(app);
      });
    }

    it("a provider's silence until the deadline is 504 prediction_timeout, and the call is aborted", async () => {
      const hasty = await system.startWeb({ PREDICTION_TIMEOUT_MS: '1000' });
      const app = await system.app();
      system.provider.respond(hang());
      const answer = await app.predict(predictionBody(), { at: hasty });
      assert.deepEqual([answer.status, answer.code], [504, 'prediction_timeout']);
      assert.match(answer.headers.get('x-error-source') ?? '', /^(worker|provider)$/);
      assert.ok(answer.tookMs > 600 && answer.tookMs < 1000 + FAST_MS, `took ${answer.tookMs} ms`);
      const [call] = system.provider.calls;
      await call?.aborted;
      assert.equal(system.provider.running, 0);
      await expectNothingCharged(app);
    });

    it("a provider's faults towards one app are not another's", async () => {
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

  /** Sends one request, as a new app by default, with the provider running `step`. */
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
