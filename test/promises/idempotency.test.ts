import assert from 'node:assert/strict';
import type { PredictionResponse } from '../../shared/schemas/predictions.ts';
import { AppClient, predictionBody, type Reply } from '../support/client.ts';
import { delay, hang, refusal, status, when } from '../support/fake-provider.ts';
import { makePastWeeks } from '../support/past-weeks.ts';
import { rowOf } from '../support/rows.ts';
import { useSystem } from '../support/system.ts';
import { ageDrafts, alterApp, alterRow } from '../support/time-travel.ts';
import { assertUnits } from '../support/units.ts';
import { until } from '../support/until.ts';

type Body = ReturnType<typeof predictionBody>;
type Answer = Reply<PredictionResponse>;

const SANDBOX_UNITS = 3;
const ENVELOPE_CHARS = 2000;
const WAIT = { headers: { prefer: 'wait' } };

describe('idempotency', () => {
  const env = { SANDBOX_UNITS: `${SANDBOX_UNITS}`, CONTEXT_ENVELOPE_CHARS: `${ENVELOPE_CHARS}` };
  const system = useSystem({ webs: 2, env });
  beforeEach(() => system.provider.reset());

  describe('requests whose callers wait', () => {
    it('repeating a request while its caller waits is 409 request_in_flight with Retry-After', async () => {
      const [app, body, gate] = await heldRequest();
      const first = app.predict(body);
      await system.provider.called(1);
      for (const at of system.webs) assertInFlight(await app.predict(body, { at }));
      gate.resolve();
      const answer = await first;
      assert.deepEqual([answer.status, isReplay(answer)], [200, false]);
      assert.equal(system.provider.calls.length, 1);
      await assertUnits(app, 1);
    });

    it('repeating a request with `Prefer: wait` while its caller waits gets the same bytes from one provider call #runs-once', async () => {
      const [app, body, gate] = await heldRequest();
      const first = app.predict(body);
      await system.provider.called(1);
      const [before, attaching] = [await rowOf(system, body), attachAt(system.webs, app, body)];
      const attached = await until(async () => {
        const row = await rowOf(system, body);
        return row.waiters.length === 2 && row;
      });
      assert.deepEqual(attached.deadline_at, before.deadline_at, 'attaching adds no time');
      gate.resolve();
      const [answer, ...others] = await Promise.all([first, ...attaching]);
      assert.deepEqual([answer.status, isReplay(answer)], [200, false]);
      for (const other of others)
        assert.deepEqual([other.status, other.text, isReplay(other)], [200, answer.text, true]);
      assert.equal((await rowOf(system, body)).attempt, before.attempt);
      assert.equal(system.provider.calls.length, 1);
      await assertUnits(app, 1);
    });

    it('everyone who sent the same running request gets the same error when it fails, and no answer is marked as a replay', async () => {
      const [app, body, gate] = await heldRequest(status(500));
      const first = app.predict(body);
      await system.provider.called(1);
      const attaching = attachAt(system.webs.slice(1), app, body);
      await until(async () => (await rowOf(system, body)).waiters.length === 2);
      gate.resolve();
      for (const answer of await Promise.all([first, ...attaching]))
        assert.deepEqual([answer.status, answer.code, isReplay(answer)], [502, 'provider_failed', false]);
      assert.equal(system.provider.calls.length, 1);
    });

    it('another body with the id of a running request is 409 idempotency_conflict, even with `Prefer: wait`', async () => {
      const [app, body, gate] = await heldRequest();
      const first = app.predict(body);
      await system.provider.called(1);
      assertConflict(await app.predict(withOtherContext(body)));
      assertConflict(await app.predict(withOtherContext(body), WAIT));
      gate.resolve();
      assert.equal((await first).status, 200);
    });
  });

  describe('requests whose callers have disconnected', () => {
    it("a running request whose callers disconnected can be repeated with the same body, and gets the running work's answer", async () => {
      const [app, body, gate] = await heldRequest();
      await predictAndLeave(app, body);
      assertConflict(await app.predict(withOtherContext(body)));
      const again = app.predict(body);
      await until(async () => (await rowOf(system, body)).waiters.length === 1);
      gate.resolve();
      const answer = await again;
      assert.deepEqual([answer.status, isReplay(answer)], [200, true]);
      assert.equal(system.provider.calls.length, 1);
      await assertUnits(app, 1);
    });
  });

  describe('answered requests', () => {
    for (const state of ['suggested', 'abstained'] as const) {
      it(`repeating a request with the outcome ${state} gets the same bytes at any ingress, and costs nothing #runs-once`, async () => {
        const [app, body] = [await system.app(), predictionBody()];
        const answer = await endAs[state](app, body);
        assert.deepEqual([answer.status, answer.body.status, isReplay(answer)], [200, state, false]);
        const usage = await app.usage();
        for (const at of system.webs) {
          const replay = await app.predict(body, { at });
          assert.deepEqual([replay.status, replay.text, isReplay(replay)], [200, answer.text, true]);
        }
        assert.equal(system.provider.calls.length, 1);
        assert.equal((await app.usage()).text, usage.text);
      });

      it(`another body with the id of a request with the outcome ${state} is 409 idempotency_conflict`, async () => {
        const [app, body] = [await system.app(), predictionBody()];
        await endAs[state](app, body);
        assertConflict(await app.predict(withOtherContext(body)));
        assertConflict(await app.predict(withOtherContext(body), WAIT));
      });
    }

    it("an answer's expires_at is the end of its recovery window of 600 s, rounded up to a second", async () => {
      const [app, body] = [await system.app(), predictionBody()];
      const { expires_at } = (await app.predict(body)).body;
      const endedAt = Number((await rowOf(system, body)).ended_at) / 1000;
      assert.ok(Number.isInteger(expires_at));
      const windowS = expires_at - endedAt;
      assert.ok(windowS >= 600 && windowS < 601.001, `the window is ${windowS} s`);
    });
  });

  describe('cancelled and superseded requests', () => {
    for (const end of ['cancelled', 'superseded'] as const) {
      it(`repeating a ${end} request is 499 with the same code, or 409 with another body, and calls no provider`, async () => {
        const [app, body] = [await system.app(), predictionBody()];
        const ended = [499, `prediction_${end}`];
        const answer = await endAs[end](app, body);
        assert.deepEqual([answer.status, answer.code], ended);
        const calls = system.provider.calls.length;
        for (const at of system.webs) {
          const again = await app.predict(body, { at });
          assert.deepEqual([again.status, again.code, isReplay(again)], [...ended, false]);
        }
        assertConflict(await app.predict(withOtherContext(body)));
        assert.equal(system.provider.calls.length, calls);
      });
    }
  });

  describe('failed requests', () => {
    for (const [end, ...expected] of [
      ['refused', 502, 'provider_failed'],
      ['limited', 503, 'provider_rate_limited'],
      ['timedOut', 504, 'prediction_timeout'],
    ] as const) {
      it(`a request that failed with ${expected.join(' ')} runs again when repeated, as the same prediction, for one unit #runs-once`, async () => {
        const [app, body] = [await system.app(), predictionBody()];
        const failed = await endAs[end](app, body);
        assert.deepEqual([failed.status, failed.code], expected);
        const before = await rowOf(system, body);
        await assertUnits(app, 0);
        assertConflict(await app.predict(withOtherContext(body)));

        const answer = await app.predict(body);
        assert.deepEqual([answer.status, answer.body.status, isReplay(answer)], [200, 'suggested', false]);
        assert.equal(answer.body.prediction_id, before.id);
        const after = await rowOf(system, body);
        assert.equal(after.attempt, before.attempt + 1);
        assert.equal(system.provider.calls.length, 2);
        await assertUnits(app, 1);
      });
    }

    it('a failed request that 20 callers repeat at once runs again only once', async () => {
      const [app, body] = [await system.app(), predictionBody()];
      await endAs.refused(app, body);
      const answers = await callAllIngresses(20, (at) => app.predict(body, { at, ...WAIT }));
      assert.equal(system.provider.calls.length, 2);
      assert.deepEqual(
        answers.map(({ status }) => status).filter((status) => status !== 200),
        [],
      );
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
      assert.equal(answers.filter(isReplay).length, 19);
      await assertUnits(app, 1);
    });

    it('repeating a failed request is 402 while its app has no units, and works once the app has units again', async () => {
      const [app, body] = [await system.app(), predictionBody()];
      await endAs.refused(app, body);
      for (let i = 0; i < SANDBOX_UNITS; i += 1)
        assert.equal((await app.predict(predictionBody())).status, 200);
      const before = await rowOf(system, body);
      const refused = await app.predict(body);
      assert.deepEqual([refused.status, refused.code], [402, 'sandbox_exhausted']);
      assert.deepEqual(await rowOf(system, body), before);
      assert.deepEqual((await app.cancel(body.request_id, body.user_id)).body, {
        status: 'failed',
        prediction_units: 0,
      });
      await alterApp(system, app, `plan = 'paid'`);
      const answer = await app.predict(body);
      assert.deepEqual([answer.status, answer.body.prediction_id], [200, before.id]);
      await assertUnits(app, SANDBOX_UNITS + 1);
    });

    it('repeating a failed request is 409 while its session has a newer draft, and works once that draft is 36 days old', async () => {
      const [app, body] = [await system.app(), predictionBody()];
      await endAs.refused(app, body);
      assert.equal((await app.predict(nextRevision(body))).status, 200);
      const before = await rowOf(system, body);
      const refused = await app.predict(body);
      assert.deepEqual([refused.status, refused.code], [409, 'context_revision_conflict']);
      assert.deepEqual(await rowOf(system, body), before);
      await ageDrafts(system, 36);
      const answer = await app.predict(body);
      assert.deepEqual([answer.status, answer.body.prediction_id], [200, before.id]);
      await assertUnits(app, 2);
    });
  });

  describe('requests after their recovery window', () => {
    const ends = ['suggested', 'abstained', 'cancelled', 'superseded', 'refused'] as const;

    for (const end of ends) {
      it(`a request with the outcome ${end} is 410 after its recovery window, with the same body or another`, async () => {
        const [app, body] = [await system.app(), predictionBody()];
        await endAs[end](app, body);
        await alterRow(system, app, body, 'expires_at = now()');
        const calls = system.provider.calls.length;
        for (const late of [body, withOtherContext(body)]) {
          const answer = await app.predict(late, WAIT);
          assert.deepEqual([answer.status, answer.code], [410, 'recovery_window_expired']);
        }
        assert.equal(system.provider.calls.length, calls);
      });
    }
  });

  it('a request id can be used again after 35 days and not before, and the unit of the old request stays counted', async () => {
    const app = await system.app();
    const [old, younger] = [predictionBody(), predictionBody()];
    const first = await app.predict(old);
    assert.deepEqual([first.status, (await app.predict(younger)).status], [200, 200]);
    await makeAged(app, old, 36);
    await makeAged(app, younger, 34);
    const answer = await app.predict(withOtherContext(old));
    assert.deepEqual([answer.status, isReplay(answer)], [200, false]);
    assert.notEqual(answer.body.prediction_id, first.body.prediction_id);
    assert.equal((await app.predict(younger)).status, 410);
    await assertUnits(app, 3);
  });

  it('two apps may use the same request_id for different requests', async () => {
    const [app, other, body] = [await system.app(), await system.app(), predictionBody()];
    const [answer, others] = [await app.predict(body), await other.predict(withOtherContext(body))];
    assert.deepEqual([answer.status, others.status, isReplay(others)], [200, 200, false]);
    assert.notEqual(others.body.prediction_id, answer.body.prediction_id);
    assert.equal(system.provider.calls.length, 2);
    await assertUnits(app, 1);
    await assertUnits(other, 1);
  });

  describe('equal bodies', () => {
    for (const [how, say] of [
      ['key order', (body: FullBody) => JSON.stringify(reverseKeys(body))],
      ['white space', (body: FullBody) => JSON.stringify(body, null, '\t')],
      ['escapes', (body: FullBody) => JSON.stringify(body).replaceAll('e', '\\u0065')],
      [
        'the notation of a number',
        (body: FullBody) => JSON.stringify(body).replace('"revision":1}', '"revision":1.0e0}'),
      ],
      ['defaults that are stated', (body: FullBody) => JSON.stringify({ ...body, ...DEFAULTS })],
      [
        'defaults inside a list or an object',
        (body: FullBody) => JSON.stringify({ ...body, ...INNER_DEFAULTS }),
      ],
    ] as const) {
      it(`two bodies with one request_id count as the same request if they differ only in ${how}`, async () => {
        const [app, body] = [await system.app(), fullBody()];
        const said = say(body);
        assert.notEqual(said, JSON.stringify(body));
        const answer = await app.predict(body);
        assert.equal(answer.status, 200, answer.text);
        const replay = await app.predict(said);
        assert.deepEqual([replay.status, replay.text, isReplay(replay)], [200, answer.text, true]);
      });
    }
  });

  describe('other bodies', () => {
    const changes: Record<string, object> = {
      user_id: { user_id: 'u-2' },
      session_id: { session_id: 's-other' },
      mode: { mode: 'next_prompt' },
      'draft.text': { draft: { text: 'Please send the report to  ', revision: 1 } },
      'draft.revision': { draft: { text: 'Please send the report to ', revision: 2 } },
      context_revision: { context_revision: 'C-1' },
      language: { language: 'en' },
      user_preferences: { user_preferences: ' ' },
      'a message': { messages: [{ role: 'assistant', content: 'Hi' }] },
      "a message's origin": { messages: [{ role: 'user', content: 'Hi', origin: 'human' }] },
      'one message more': {
        messages: [
          { role: 'user', content: 'Hi' },
          { role: 'user', content: 'Hi' },
        ],
      },
      'artifact.kind': { artifact: { kind: 'video', id: 'a', revision: '1' } },
      'artifact.selection': { artifact: { kind: 'slides', id: 'a', revision: '1', selection: 'x' } },
      'no artifact': { artifact: null },
    };

    it('repeating a request_id is 409 idempotency_conflict if user, session, draft, context, messages or artifact differ', async () => {
      const [app, body] = [await system.app(), fullBody()];
      assert.equal((await app.predict(body)).status, 200);
      for (const [what, change] of Object.entries(changes)) {
        const { status, code } = await app.predict({ ...body, ...change });
        assert.deepEqual([what, status, code], [what, 409, 'idempotency_conflict']);
      }
    });
  });

  describe('refused requests', () => {
    const refusals: Record<string, (app: AppClient, body: Body) => Promise<Answer>> = {
      '401 invalid_app_key': (app, body) =>
        new AppClient(app.id, `${app.key.slice(0, -1)}~`, app.url).predict(body),
      '402 monthly_cap_reached': async (app, body) => {
        await alterApp(system, app, `plan = 'paid', cap_cents = 0`);
        const reply = await app.predict(body);
        await alterApp(system, app, 'cap_cents = null');
        return reply;
      },
      '404 not_found': (app, body) => app.predict({ ...body, connection_id: 'c-unknown' }),
      '404 feature_disabled': async (app, body) => {
        await alterApp(system, app, `disabled = '{predictions}'`);
        const reply = await app.predict(body);
        await alterApp(system, app, `disabled = '{}'`);
        // Waits until the ingress no longer has the disabled app cached.
        const unknown = { ...body, connection_id: 'c-unknown' };
        await until(async () => (await app.predict(unknown)).code === 'not_found');
        return reply;
      },
      '413 context_too_large': (app, body) =>
        app.predict({ ...body, draft: { text: 'x'.repeat(ENVELOPE_CHARS + 1), revision: 9 } }),
      '422 undefined': (app, body) => app.predict({ ...body, extra: 1 }),
    };
    for (const [expected, refuse] of Object.entries(refusals)) {
      it(`a request refused with ${expected.replace('undefined', 'for an invalid body')} stores no work, and its id can be used for another request`, async () => {
        const [app, body] = [await system.app(), predictionBody()];
        const refused = await refuse(app, body);
        assert.equal(`${refused.status} ${refused.code}`, expected);
        assert.equal(await countWorkOf(app), 0);
        await assertUnits(app, 0);
        const answer = await app.predict(withOtherContext(body));
        assert.deepEqual([answer.status, isReplay(answer)], [200, false], answer.text);
      });
    }
  });

  describe('many identical requests at once', () => {
    it('100 concurrent identical requests with `Prefer: wait` all get the same 200', async () => {
      const [app, body] = [await system.app(), predictionBody()];
      system.provider.respond(delay(100));
      const answers = await callAllIngresses(100, (at) => app.predict(body, { at, ...WAIT }));
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
      assert.equal(answers.filter((answer) => !isReplay(answer)).length, 1);
      assert.equal(system.provider.calls.length, 1);
      await assertUnits(app, 1);
    });
  });

  /** Functions that make a request end with the named outcome, and resolve with its caller's answer. */
  const endAs = {
    suggested: (app: AppClient, body: Body) => app.predict(body),
    abstained(app: AppClient, body: Body) {
      system.provider.next(refusal());
      return app.predict(body);
    },
    async cancelled(app: AppClient, body: Body) {
      const first = await predictHanging(app, body);
      assert.equal((await app.cancel(body.request_id, body.user_id)).body.status, 'cancelled');
      return first.reply;
    },
    async superseded(app: AppClient, body: Body) {
      const first = await predictHanging(app, body);
      assert.equal((await app.predict(nextRevision(body))).status, 200);
      return first.reply;
    },
    refused(app: AppClient, body: Body) {
      system.provider.next(status(500));
      return app.predict(body);
    },
    limited(app: AppClient, body: Body) {
      system.provider.next(status(429));
      return app.predict(body);
    },
    async timedOut(app: AppClient, body: Body) {
      const first = await predictHanging(app, body);
      await alterRow(system, app, body, 'deadline_at = now()');
      return first.reply;
    },
  } satisfies Record<string, (app: AppClient, body: Body) => Promise<Answer>>;

  /** Prepares a request whose provider call lasts until the gate is opened, and then ends with `step`. */
  async function heldRequest(step?: Parameters<typeof when>[1]) {
    const gate = Promise.withResolvers<void>();
    system.provider.respond(when(gate.promise, step));
    return [await system.app(), predictionBody(), gate] as const;
  }

  /** Sends a request. Resolves when its provider call, which never ends, has begun; `reply` is the caller's answer. */
  async function predictHanging(app: AppClient, body: Body): Promise<{ reply: Promise<Answer> }> {
    system.provider.next(hang());
    const reply = app.predict(body);
    await system.provider.called(system.provider.calls.length + 1);
    return { reply };
  }

  async function predictAndLeave(app: AppClient, body: Body): Promise<void> {
    const leave = new AbortController();
    const left = app.predict(body, { signal: leave.signal });
    await until(() => isAdmitted(body));
    leave.abort();
    await assert.rejects(left, { name: 'AbortError' });
    await until(async () => (await rowOf(system, body)).detached_at !== null);
  }

  function attachAt(webs: { url: string }[], app: AppClient, body: Body): Promise<Answer>[] {
    return webs.map((at) => app.predict(body, { at, ...WAIT }));
  }

  function callAllIngresses(
    count: number,
    call: (at: { url: string }) => Promise<Answer>,
  ): Promise<Answer[]> {
    const { webs } = system;
    return Promise.all(Array.from({ length: count }, (_, i) => call(webs[i % webs.length] ?? { url: '' })));
  }

  async function isAdmitted({ request_id }: Body): Promise<boolean> {
    return (await rowOf(system, { request_id }).catch(() => undefined)) !== undefined;
  }

  async function countWorkOf(app: AppClient): Promise<number> {
    const kept = await system.database.pool.query(
      `select party from work where party = $1 union all select party from history where party = $1`,
      [app.id],
    );
    return kept.rowCount ?? 0;
  }

  /** Makes a prediction look as if it had ended and expired `days` ago. Changes its id too, which encodes its age. */
  async function makeAged(app: AppClient, body: Body, days: number): Promise<void> {
    const { id } = await rowOf(system, body);
    const millis = (Date.now() - days * 86_400_000).toString(16).padStart(12, '0');
    const aged = `${millis.slice(0, 8)}-${millis.slice(8)}${id.slice(13)}`;
    const moment = `now() - interval '${days} days'`;
    await system.database.pool.query('delete from answers where id = $1', [id]);
    await makePastWeeks(system.database.pool);
    await alterRow(
      system,
      app,
      body,
      `id = '${aged}', admitted_at = ${moment}, ended_at = ${moment}, expires_at = ${moment}`,
    );
  }
});

/** Returns a body that states none of the defaults in `DEFAULTS` and `INNER_DEFAULTS`. */
function fullBody() {
  return predictionBody({
    draft: { text: 'Please send the report to ', revision: 1 },
    messages: [{ role: 'user', content: 'Hi' }],
    artifact: { kind: 'slides', id: 'a', revision: '1' },
  });
}
type FullBody = ReturnType<typeof fullBody>;

const DEFAULTS = { connection_id: null, language: 'auto', user_preferences: '' };
const INNER_DEFAULTS = {
  messages: [{ role: 'user', content: 'Hi', origin: 'unknown' }],
  artifact: { kind: 'slides', id: 'a', revision: '1', selection: '', summary: '' },
};

function reverseKeys(value: object): object {
  const entries = Object.entries(value).map(([key, part]) => [
    key,
    part !== null && typeof part === 'object' && !Array.isArray(part) ? reverseKeys(part) : part,
  ]);
  return Object.fromEntries(entries.reverse());
}

function withOtherContext(body: Body): Body {
  return { ...body, context_revision: 'c-another' };
}

function nextRevision(body: Body): Body {
  return predictionBody({
    session_id: body.session_id,
    draft: { ...body.draft, revision: body.draft.revision + 1 },
  });
}

const isReplay = (answer: Answer): boolean => answer.headers.get('idempotency-replayed') === 'true';

function assertConflict(answer: Answer): void {
  assert.deepEqual([answer.status, answer.code], [409, 'idempotency_conflict']);
}

function assertInFlight(answer: Answer): void {
  assert.deepEqual([answer.status, answer.code], [409, 'request_in_flight']);
  assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
}
