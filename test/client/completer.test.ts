import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { createCompleter } from '../../client/src/completer.ts';
import { type AppClient, createAppClient, ForecueError, type Prediction } from '../../client/src/v1.ts';
import { pluck } from '../support/pluck.ts';

const settlePromises = () => new Promise((resolve) => setImmediate(resolve));

/** Advances the clock, and lets due timers and promises run. */
async function pass(ms: number): Promise<void> {
  mock.timers.tick(ms);
  await settlePromises();
}

function completerFor(options: Partial<Parameters<typeof createCompleter>[1]> = {}) {
  const calls: {
    draft: string;
    mode: string;
    context: string;
    revision: number;
    signal: AbortSignal | undefined;
    answer(completion: string, alternatives?: string[]): Promise<void>;
    fail(error: unknown): Promise<void>;
  }[] = [];
  const events: string[] = [];
  const client: Pick<AppClient, 'predict' | 'recordPredictionEvent'> = {
    predict({ draft, mode, context_revision: context }, { signal } = {}) {
      const { promise, resolve, reject } = Promise.withResolvers<Prediction>();
      const request_id = `r${calls.length}`;
      signal?.addEventListener('abort', () => reject(signal.reason));
      calls.push({
        draft: draft.text,
        revision: draft.revision,
        mode,
        context,
        signal,
        async answer(completion, alternatives = []) {
          const status = completion ? 'suggested' : 'abstained';
          resolve({ request_id, status, completion, alternatives } as Prediction);
          await settlePromises();
        },
        async fail(error) {
          reject(error);
          await settlePromises();
        },
      });
      return promise;
    },
    async recordPredictionEvent({ kind, request_id }, { retained } = {}) {
      events.push(`${request_id} ${kind}${retained === undefined ? '' : ` ${retained}`}`);
      return { status: 'recorded' };
    },
  };
  const errors: unknown[] = [];
  const completer = createCompleter(client, {
    userId: 'u',
    onError: (error) => errors.push(error),
    ...options,
  });
  return { completer, calls, events, errors };
}

/** Returns a completer that shows this suggestion for the text. */
async function suggested(
  text: string,
  completion: string,
  alternatives: string[] = [],
  options: Parameters<typeof completerFor>[0] = {},
) {
  const made = completerFor(options);
  made.completer.update(text);
  await pass(400);
  await made.calls[0]?.answer(completion, alternatives);
  return made;
}

describe('completer', () => {
  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000_000 });
    const { now } = Date;
    mock.method(performance, 'now', () => now());
  });
  afterEach(() => mock.reset());

  it('a completer makes one call when the person pauses, and shows the completion', async () => {
    const { completer, calls, events } = completerFor();
    for (const text of ['H', 'He', 'Hel']) {
      completer.update(text);
      await pass(50);
    }
    assert.equal(calls.length, 0);
    await pass(400);
    assert.deepEqual(
      calls.map(({ draft, mode }) => `${mode} ${draft}`),
      ['complete_draft Hel'],
    );
    await calls[0]?.answer('lo world');
    assert.equal(completer.suggestion, 'lo world');
    assert.deepEqual(events, ['r0 presented']);
    await pass(5000);
    assert.equal(calls.length, 1);
  });

  it('a completer makes no call while the person types the suggestion', async () => {
    const { completer, calls, events } = await suggested('Hel', 'lo wörld again');
    for (const [text, left] of [
      ['Hell', 'o wörld again'],
      ['Hello ', 'wörld again'],
      ['Hello wörl', 'd again'],
    ] as const) {
      completer.update(text);
      assert.equal(completer.suggestion, left);
      await pass(1000);
    }
    assert.equal(calls.length, 1);
    completer.update('Hello wörld again');
    assert.equal(completer.suggestion, '');
    await pass(1000);
    assert.deepEqual(pluck(calls, 'draft'), ['Hel', 'Hello wörld again']);
    assert.deepEqual(events, ['r0 presented']);
  });

  it('a completer asks once for more when the person pauses before the last word of a suggestion, and keeps what is shown if there is none', async () => {
    const { completer, calls, events } = await suggested('the quart', 'erly');
    assert.equal(calls.length, 1);
    completer.update('the quarte');
    await pass(100);
    completer.update('the quarter');
    await pass(400);
    assert.deepEqual(pluck(calls, 'draft'), ['the quart', 'the quarter']);
    assert.equal(completer.suggestion, 'ly');
    await calls[1]?.answer('ly sales');
    assert.equal(completer.suggestion, 'ly sales');
    completer.update('the quarterly ');
    await pass(400);
    await calls[2]?.answer('other');
    assert.equal(completer.suggestion, 'sales');
    completer.update('the quarterly s');
    await pass(1000);
    assert.equal(calls.length, 3);
    assert.deepEqual(events, ['r0 presented', 'r1 presented']);
  });

  it("a completer shows a suggestion's alternatives in turn, and follows the one that the person types", async () => {
    const { completer, events } = await suggested('I am ', 'here today', ['here tomorrow', 'away', 'away']);
    const shown = [completer.suggestion];
    for (const step of [1, 1, 1, -1] as const) {
      completer.next(step);
      shown.push(completer.suggestion);
    }
    assert.deepEqual(shown, ['here today', 'here tomorrow', 'away', 'here today', 'away']);
    completer.update('I am here to');
    assert.deepEqual(completer.choices, ['day', 'morrow']);
    completer.update('I am here tom');
    assert.equal(completer.suggestion, 'orrow');
    assert.equal(completer.accept(), 'orrow');
    assert.deepEqual(events, ['r0 presented', 'r0 accepted']);
  });

  it('a completer repeats a failed call once by itself, if a retry can help', async () => {
    const { completer, calls, errors } = completerFor();
    completer.update('a');
    await pass(400);
    for (let failures = 0; failures < 3; failures += 1) {
      await calls[failures]?.fail(new ForecueError('overloaded', { retryAfter: 1 }));
      await pass(1500);
    }
    assert.deepEqual([calls.length, errors.length], [2, 2]);
    completer.update('ab');
    await pass(1500);
    await calls[2]?.fail(new ForecueError('invalid_request', {}));
    await pass(60_000);
    assert.equal(calls.length, 3);
  });

  it("a completer's hooks get what was shown, accepted and dismissed", async () => {
    const seen: string[] = [];
    const note = (what: string) => (given: { requestId: string; completion: string }) =>
      void seen.push(`${what} ${given.requestId}${given.completion}`);
    const { completer, calls } = completerFor({
      onShown: note('shown'),
      onAccepted: note('accepted'),
      onDismissed: note('dismissed'),
    });
    completer.update('a');
    await pass(400);
    await calls[0]?.answer(' b c');
    completer.acceptWord();
    completer.accept();
    await pass(400);
    await calls[1]?.answer(' d');
    completer.dismiss();
    assert.deepEqual(seen, ['shown r0 b c', 'accepted r0 b c', 'shown r1 d', 'dismissed r1 d']);
  });

  it('a completer that is switched off hides its suggestion and calls no more, and one with the trigger `key` calls on request only', async () => {
    const { completer, calls } = await suggested('a', ' b');
    completer.enabled = false;
    assert.equal(completer.suggestion, '');
    completer.update('a c');
    completer.suggest();
    await pass(1000);
    assert.equal(calls.length, 1);
    completer.enabled = true;
    completer.update('a cd');
    await pass(400);
    assert.equal(calls.length, 2);
    const other = completerFor({ trigger: 'key' });
    other.completer.update('a');
    await pass(1000);
    assert.equal(other.calls.length, 0);
    other.completer.suggest();
    assert.equal(other.calls[0]?.draft, 'a');
  });

  it('a completer does not report a suggestion as dismissed if the person types all of the suggestion and a space', async () => {
    const { completer, events } = await suggested('Hel', 'lo wörld');
    completer.update('Hello wörld ');
    assert.equal(completer.suggestion, '');
    assert.deepEqual(events, ['r0 presented']);
  });

  it('a completer shows a late answer only if the answer continues the text typed meanwhile', async () => {
    const { completer, calls } = completerFor();
    completer.update('Hel');
    await pass(400);
    completer.update('Hell');
    await calls[0]?.answer('lo world');
    assert.equal(completer.suggestion, 'o world');
    await pass(1000);
    assert.equal(calls.length, 1);
    completer.update('Help');
    assert.equal(completer.suggestion, '');
    await pass(400);
    completer.update('Helpi');
    await calls[1]?.answer(' me');
    assert.equal(completer.suggestion, '');
  });

  it('a completer aborts its call when the draft no longer begins with the sent text, or is null', async () => {
    const { completer, calls, errors } = completerFor();
    completer.update('Hel');
    await pass(400);
    completer.update('He');
    assert.equal(calls[0]?.signal?.aborted, true);
    completer.update('Hey');
    await pass(400);
    completer.update(null);
    assert.equal(calls[1]?.signal?.aborted, true);
    await settlePromises();
    await pass(1000);
    assert.deepEqual([calls.length, errors], [2, []]);
  });

  it("a completer's draft revisions start at the current time and rise with each call, so that a session can be reused", async () => {
    const { completer, calls } = completerFor({ sessionId: 'old' });
    for (const text of ['a', 'ab', 'abc']) {
      completer.update(text);
      await pass(400);
    }
    const revisions = pluck(calls, 'revision');
    assert.ok(
      revisions.every((one, at) => one >= 1_000_000 && one > (revisions[at - 1] ?? 0)),
      revisions.join(),
    );
  });

  it("a completer's suggestion can be accepted whole or word by word, and is reported as accepted", async () => {
    const { completer, calls, events } = await suggested('Dear', ' Ms. Ada, hello');
    assert.equal(completer.acceptWord(), ' Ms');
    assert.equal(completer.acceptWord(), '.');
    assert.equal(completer.suggestion, ' Ada, hello');
    completer.update('Dear Ms.');
    assert.equal(completer.accept(), ' Ada, hello');
    completer.update('Dear Ms. Ada, hello');
    assert.deepEqual(events, ['r0 presented', 'r0 accepted']);
    await pass(400);
    assert.equal(calls[1]?.draft, 'Dear Ms. Ada, hello');
    completer.submit();
    assert.deepEqual(events.slice(2), ['r0 submitted 1']);
    assert.equal(completer.accept(), '');
  });

  it("accepting the next word of a completer's suggestion does not split words with combining marks or joiners", async () => {
    for (const word of ['cafe\u0301s', 'नमस्ते', 'می\u200cخواهم', "don't", '2.5']) {
      const { completer } = await suggested('a', ` ${word} b`);
      assert.equal(completer.acceptWord(), ` ${word}`);
    }
  });

  it('accepting the next word of a suggestion takes a word of languages that write without spaces', async () => {
    for (const [text, words] of [
      ['東京に行きます', ['東京', 'に']],
      ['สวัสดีครับผม', ['สวัสดี', 'ครับ']],
    ] as const) {
      const { completer } = await suggested('a', text);
      assert.deepEqual([completer.acceptWord(), completer.acceptWord()], words);
    }
  });

  it('a completer reports suggestions as dismissed, edited, accepted and submitted', async () => {
    const { completer, calls, events } = completerFor();
    const suggest = async (text: string, completion: string) => {
      completer.update(text);
      await pass(400);
      await calls.at(-1)?.answer(completion);
    };
    await suggest('a', ' b c');
    completer.dismiss();
    await pass(1000);
    assert.equal(calls.length, 1);
    await suggest('ax', ' b c');
    completer.acceptWord();
    completer.update('ax b!');
    await suggest('x', ' y');
    completer.accept();
    completer.update('x');
    completer.submit();
    await suggest('z', ' b c');
    completer.acceptWord();
    completer.update('z b c');
    completer.submit();
    assert.deepEqual(events, [
      'r0 presented',
      'r0 dismissed',
      'r1 presented',
      'r1 edited',
      'r2 presented',
      'r2 accepted',
      'r2 edited',
      'r2 submitted 0',
      'r3 presented',
      'r3 accepted',
      'r3 submitted 1',
    ]);
  });

  it('a completer says how much of an accepted suggestion is still in the message', async () => {
    const { completer, events } = await suggested('Please send the mon', 'thly report to Ada');
    completer.accept();
    completer.update('Could you send the monthly sheet to Ada?');
    completer.submit();
    assert.deepEqual(events.slice(2), ['r0 edited', 'r0 submitted 0.667']);
  });

  it('a completer does not report an accepted suggestion as edited if the person leaves the field to send the text', async () => {
    const { completer, events } = await suggested('a', ' b');
    completer.accept();
    completer.update(null);
    completer.submit();
    assert.deepEqual(events, ['r0 presented', 'r0 accepted', 'r0 submitted 1']);
  });

  it('a completer predicts from an empty draft only if there are messages before it', async () => {
    const messages = [{ role: 'assistant' as const, content: 'Which colour?' }];
    const { completer, calls } = completerFor();
    completer.update('');
    await pass(1000);
    assert.equal(calls.length, 0);
    const other = completerFor({ context: () => ({ messages }) });
    other.completer.update('');
    await pass(1000);
    assert.equal(other.calls[0]?.mode, 'next_prompt');
    await other.calls[0]?.answer('Blue, please');
    other.completer.update('Bl');
    assert.equal(other.completer.suggestion, 'ue, please');
  });

  describe('while a call is about to end', () => {
    /** Returns a completer that waits for the end of the call for "Te", and knows that "Tea" is typed by now. */
    async function waiting() {
      const made = completerFor();
      made.completer.update('Te');
      await pass(150);
      await pass(100);
      made.completer.update('Tea');
      await pass(150);
      assert.equal(made.calls.length, 1);
      return made;
    }

    it('a completer makes no other, and shows an answer that goes on from what is typed', async () => {
      const { completer, calls } = await waiting();
      await calls[0]?.answer('a, please');
      assert.equal(completer.suggestion, ', please');
      await pass(1000);
      assert.equal(calls.length, 1);
    });

    it('a completer makes the next as soon as the answer turns out not to fit', async () => {
      const { calls } = await waiting();
      await calls[0]?.answer('n men');
      assert.deepEqual(pluck(calls, 'draft'), ['Te', 'Tea']);
    });

    it('a completer makes the next after the pause that an error asks for', async () => {
      for (const error of [new ForecueError('rate_limited', { retryAfter: 30 }), new Error('no network')]) {
        const { calls } = await waiting();
        await calls[0]?.fail(error);
        await pass(29_900);
        assert.equal(calls.length, 1);
        await pass(100);
        assert.deepEqual(pluck(calls, 'draft'), ['Te', 'Tea']);
      }
    });

    it('a completer aborts it once it takes longer than usual', async () => {
      const { calls } = await waiting();
      await pass(124);
      assert.equal(calls.length, 1);
      await pass(1);
      assert.deepEqual([calls.length, calls[0]?.signal?.aborted], [2, true]);
    });
  });

  it("a completer's delay before a call grows with the latency, between `minDelayMs` and `maxDelayMs`", async () => {
    const { completer, calls } = completerFor({ minDelayMs: 20, maxDelayMs: 1000 });
    let text = '';
    const delayAfter = async (latency: number) => {
      for (let n = 0; n < 20; n += 1) {
        text += 'x';
        completer.update(text);
        const before = calls.length;
        let waited = 0;
        for (; calls.length === before; waited += 10) await pass(10);
        await pass(latency);
        await calls.at(-1)?.answer('');
        if (n === 19) return waited;
      }
      return 0;
    };
    assert.ok((await delayAfter(10)) <= 30);
    assert.ok((await delayAfter(900)) >= 400);
    assert.ok((await delayAfter(9000)) <= 1010);
  });

  it('after an error with a Retry-After, a completer makes no call until that time has passed', async () => {
    const { completer, calls, errors } = completerFor();
    completer.update('a');
    await pass(400);
    await calls[0]?.fail(new ForecueError('rate_limited', { retryAfter: 7 }));
    completer.update('ab');
    await pass(6500);
    assert.deepEqual([calls.length, errors.length], [1, 1]);
    await pass(600);
    assert.equal(calls.length, 2);
  });

  it('a completer sends only the end of a text that is too long, without splitting a character', async () => {
    const { completer, calls } = completerFor();
    completer.update(`${'a'.repeat(100)}${'😀'.repeat(4000)}b`);
    await pass(400);
    assert.equal(calls[0]?.draft, `${'😀'.repeat(3999)}b`);
  });

  it('with 5 % of requests lost, a completer shows no stale suggestion, and makes one call per keystroke and one more after a failure', async () => {
    let seed = 7;
    const random = () => {
      seed = (seed * 48271) % 2147483647;
      return seed / 2147483647;
    };
    const answers: { draft: string; completion: string }[] = [];
    const calls = new Map<string, number>();
    let text = '';
    let keystrokes = 0;
    const link: typeof fetch = async (url, init) => {
      if (!String(url).endsWith('/predictions')) return Response.json({ status: 'recorded' });
      const { request_id, draft } = JSON.parse(String(init?.body));
      // A retry counts as the same call.
      if (!calls.has(request_id)) calls.set(request_id, keystrokes);
      const lost = random();
      if (lost < 0.025) throw new TypeError('lost on the way there');
      await new Promise((resolve) => setTimeout(resolve, 50 + random() * 500));
      if (init?.signal?.aborted) throw new TypeError('aborted');
      if (lost < 0.05) throw new TypeError('lost on the way back');
      const completion = ' and so on, until the end'.slice(0, 3 + random() * 22);
      answers.push({ draft: draft.text, completion });
      return Response.json({ request_id, status: random() < 0.2 ? 'abstained' : 'suggested', completion });
    };
    let shown = 0;
    const check = () => {
      const { suggestion } = completer;
      if (suggestion === '') return;
      shown += 1;
      const whole = text + suggestion;
      assert.ok(
        answers.some(({ draft, completion }) => draft + completion === whole && text.startsWith(draft)),
        JSON.stringify({ text, suggestion }),
      );
    };
    const client = createAppClient({ baseUrl: 'http://forecue.example', fetch: link });
    const completer = createCompleter(client, { userId: 'u', onSuggestion: () => check() });
    while (keystrokes < 10_000) {
      const { suggestion } = completer;
      const choice = random();
      if (text.length > 300) completer.submit();
      if (text.length > 300) text = '';
      else if (suggestion && choice < 0.5) text += suggestion[0];
      else if (suggestion && choice < 0.55) text += completer.accept();
      else if (choice < 0.8 || text === '') text += 'abcdefg '[Math.floor(random() * 8)];
      else text = text.slice(0, -1);
      keystrokes += 1;
      completer.update(text);
      check();
      for (let left = random() < 0.15 ? 900 : 20 + random() * 100; left > 0; left -= 30) {
        await pass(30);
        check();
      }
    }
    completer.close();
    const perPause = new Map<number, number>();
    for (const at of calls.values()) perPause.set(at, (perPause.get(at) ?? 0) + 1);
    // A failed call is repeated once.
    assert.deepEqual(
      [...perPause.values()].filter((count) => count > 2),
      [],
    );
    assert.ok(shown > 1000 && calls.size > 1000, `${shown} shown, ${calls.size} calls`);
  });
});
