import assert from 'node:assert/strict';
import type { PredictionResponse } from '../../shared/schemas/predictions.ts';
import { AppClient, predictionBody, type Reply } from '../support/client.ts';
import { delay, hang, refusal, status, when } from '../support/fake-provider.ts';
import { makePastWeeks } from '../support/past-weeks.ts';
import { type PredictionRow, rowOf } from '../support/rows.ts';
import { type System, startSystem } from '../support/system.ts';
import { ageDrafts, alterApp, alterRow, expire, whileFrozen } from '../support/time-travel.ts';
import { until } from '../support/until.ts';

type Body = ReturnType<typeof predictionBody>;
type Answer = Reply<PredictionResponse>;

const SANDBOX_UNITS = 3;
const ENVELOPE = 2000;
/** Work that nobody has waited for this long is abandoned. */
const LONG_AGO = `admitted_at = now() - interval '6 seconds', detached_at = now() - interval '6 seconds'`;
const WAIT = { headers: { prefer: 'wait' } };

describe('idempotency', () => {
  let system: System;
  before(async () => {
    const env = { SANDBOX_UNITS: `${SANDBOX_UNITS}`, CONTEXT_ENVELOPE_CHARS: `${ENVELOPE}` };
    system = await startSystem({ webs: 2, env });
  });
  beforeEach(() => system.provider.reset());
  after(() => system.stop());

  describe('requests whose callers wait', () => {
    it('a request that is repeated while a caller waits is 409 request_in_flight with Retry-After, and the first caller is left alone', async () => {
      const [app, body, gate] = await heldRequest();
      const first = app.predict(body);
      await system.provider.called(1);
      for (const at of system.webs) inFlight(await app.predict(body, { at }));
      gate.resolve();
      const answer = await first;
      assert.deepEqual([answer.status, replayed(answer)], [200, false]);
      assert.equal(system.provider.calls.length, 1);
      await expectUnits(app, 1);
    });

    it('a request that is repeated while a caller waits may wait too with `Prefer: wait`, at any ingress: the same bytes from one call', async () => {
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
      assert.deepEqual([answer.status, replayed(answer)], [200, false]);
      for (const other of others)
        assert.deepEqual([other.status, other.text, replayed(other)], [200, answer.text, true]);
      assert.equal((await rowOf(system, body)).attempt, before.attempt);
      assert.equal(system.provider.calls.length, 1);
      await expectUnits(app, 1);
    });

    it('all callers that wait for a request get the same answer when the work fails, and none of them a replay', async () => {
      const [app, body, gate] = await heldRequest(status(500));
      const first = app.predict(body);
      await system.provider.called(1);
      const attaching = attachAt(system.webs.slice(1), app, body);
      await until(async () => (await rowOf(system, body)).waiters.length === 2);
      gate.resolve();
      for (const answer of await Promise.all([first, ...attaching]))
        assert.deepEqual([answer.status, answer.code, replayed(answer)], [502, 'provider_failed', false]);
      assert.equal(system.provider.calls.length, 1);
    });

    it('another body under the id of a request that runs is 409 idempotency_conflict, also with `Prefer: wait`', async () => {
      const [app, body, gate] = await heldRequest();
      const first = app.predict(body);
      await system.provider.called(1);
      conflict(await app.predict(another(body)));
      conflict(await app.predict(another(body), WAIT));
      gate.resolve();
      assert.equal((await first).status, 200);
    });
  });

  describe('requests whose callers have disconnected', () => {
    it('a request that runs without callers is attached by the same body and answers it from the same work; another body is a conflict', async () => {
      const [app, body, gate] = await heldRequest();
      await predictAndLeave(app, body);
      conflict(await app.predict(another(body)));
      const again = app.predict(body);
      await until(async () => (await rowOf(system, body)).waiters.length === 1);
      gate.resolve();
      const answer = await again;
      assert.deepEqual([answer.status, replayed(answer)], [200, true]);
      assert.equal(system.provider.calls.length, 1);
      await expectUnits(app, 1);
    });

    it('the callers of a dead ingress are gone for a request that is repeated', async () => {
      const [app, body, gate] = await heldRequest();
      const first = app.predict(body);
      await system.provider.called(1);
      await alterRow(system, app, body, `waiters = array['${await deadIngress()}']::uuid[]`);
      const [before, again] = [await rowOf(system, body), app.predict(body)];
      await until(async () => !sameWaiters(before, await rowOf(system, body)));
      gate.resolve();
      const [answer, replay] = await Promise.all([first, again]);
      assert.deepEqual([replay.status, replay.text, replayed(replay)], [200, answer.text, true]);
      assert.equal(system.provider.calls.length, 1);
    });
  });

  describe('answered requests', () => {
    for (const state of ['suggested', 'abstained'] as const) {
      it(`a request that is repeated once it was ${state} is answered byte for byte at any ingress and charges nothing`, async () => {
        const [app, body] = [await system.app(), predictionBody()];
        const answer = await endAs[state](app, body);
        assert.deepEqual([answer.status, answer.body.status, replayed(answer)], [200, state, false]);
        const usage = await app.usage();
        for (const at of system.webs) {
          const replay = await app.predict(body, { at });
          assert.deepEqual([replay.status, replay.text, replayed(replay)], [200, answer.text, true]);
        }
        assert.equal(system.provider.calls.length, 1);
        assert.equal((await app.usage()).text, usage.text);
      });

      it(`another body under the id of a request that was ${state} is 409 idempotency_conflict`, async () => {
        const [app, body] = [await system.app(), predictionBody()];
        await endAs[state](app, body);
        conflict(await app.predict(another(body)));
        conflict(await app.predict(another(body), WAIT));
      });
    }

    it('an answer has the end of its recovery window, rounded up to a second, as expires_at', async () => {
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
      it(`a request that was ${end} answers the same body 499 with its code, another body 409, and calls no provider again`, async () => {
        const [app, body] = [await system.app(), predictionBody()];
        const ended = [499, `prediction_${end}`];
        const answer = await endAs[end](app, body);
        assert.deepEqual([answer.status, answer.code], ended);
        const calls = system.provider.calls.length;
        for (const at of system.webs) {
          const again = await app.predict(body, { at });
          assert.deepEqual([again.status, again.code, replayed(again)], [...ended, false]);
        }
        conflict(await app.predict(another(body)));
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
      it(`a request that failed with ${expected.join(' ')} runs again for the same body, as the same prediction, for one unit`, async () => {
        const [app, body] = [await system.app(), predictionBody()];
        const failed = await endAs[end](app, body);
        assert.deepEqual([failed.status, failed.code], expected);
        const before = await rowOf(system, body);
        await expectUnits(app, 0);
        conflict(await app.predict(another(body)));

        const answer = await app.predict(body);
        assert.deepEqual([answer.status, answer.body.status, replayed(answer)], [200, 'suggested', false]);
        assert.equal(answer.body.prediction_id, before.id);
        const after = await rowOf(system, body);
        assert.equal(after.attempt, before.attempt + 1);
        assert.equal(system.provider.calls.length, 2);
        await expectUnits(app, 1);
      });
    }

    it('a request that was abandoned in the queue was never run, and runs when it is requested again', async () => {
      const [app, body] = [await system.app(), predictionBody()];
      await whileFrozen(system.workers, async () => {
        await predictAndLeave(app, body);
        await alterRow(system, app, body, LONG_AGO);
      });
      await until(async () => (await rowOf(system, body)).state === 'failed');
      const { id, code } = await rowOf(system, body);
      assert.equal(code, 'abandoned');
      assert.equal(system.provider.calls.length, 0);
      await expectUnits(app, 0);
      const answer = await app.predict(body);
      assert.deepEqual([answer.status, answer.body.prediction_id], [200, id]);
      await expectUnits(app, 1);
    });

    it('a request that failed runs again once, however many repeat it at once', async () => {
      const [app, body] = [await system.app(), predictionBody()];
      await endAs.refused(app, body);
      const answers = await everywhere(20, (at) => app.predict(body, { at, ...WAIT }));
      assert.equal(system.provider.calls.length, 2);
      assert.deepEqual(
        answers.map(({ status }) => status).filter((status) => status !== 200),
        [],
      );
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
      assert.equal(answers.filter(replayed).length, 19);
      await expectUnits(app, 1);
    });

    it('a request that failed stays failed while units refuse to run it again, and runs when they allow it', async () => {
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
      await expectUnits(app, SANDBOX_UNITS + 1);
    });

    it('a request that failed stays failed when the session has moved on meanwhile, and runs when that no longer counts', async () => {
      const [app, body] = [await system.app(), predictionBody()];
      await endAs.refused(app, body);
      assert.equal((await app.predict(newer(body))).status, 200);
      const before = await rowOf(system, body);
      const refused = await app.predict(body);
      assert.deepEqual([refused.status, refused.code], [409, 'context_revision_conflict']);
      assert.deepEqual(await rowOf(system, body), before);
      await ageDrafts(system, 36);
      const answer = await app.predict(body);
      assert.deepEqual([answer.status, answer.body.prediction_id], [200, before.id]);
      await expectUnits(app, 2);
    });
  });

  describe('requests after their recovery window', () => {
    const ends = ['suggested', 'abstained', 'cancelled', 'superseded', 'refused'] as const;

    for (const end of ends) {
      it(`a request that ended ${end} answers the same body and any other 410 recovery_window_expired when its window is over`, async () => {
        const [app, body] = [await system.app(), predictionBody()];
        await endAs[end](app, body);
        await alterRow(system, app, body, 'expires_at = now()');
        const calls = system.provider.calls.length;
        for (const late of [body, another(body)]) {
          const answer = await app.predict(late, WAIT);
          assert.deepEqual([answer.status, answer.code], [410, 'recovery_window_expired']);
        }
        assert.equal(system.provider.calls.length, calls);
      });
    }

    it('the end of the recovery window erases the texts, however the request ended, and keeps a tombstone', async () => {
      const app = await system.app();
      const bodies: Body[] = [];
      for (const end of ends) {
        const body = predictionBody();
        await endAs[end](app, body);
        assert.equal(await texts(body), end === 'suggested' ? 1 : 0);
        bodies.push(body);
      }
      const kept = predictionBody();
      const answer = await app.predict(kept);
      for (const body of bodies) await expire(system, body);
      for (const body of bodies) {
        await until(async () => (await texts(body)) === 0);
        assert.equal((await app.predict(body)).status, 410);
      }
      assert.equal((await app.predict(kept)).text, answer.text, 'another one, inside its window, is whole');
    });
  });

  it('a request is forgotten after 35 days, and only then: its id is a new request, its unit stays counted', async () => {
    const app = await system.app();
    const [old, younger] = [predictionBody(), predictionBody()];
    const first = await app.predict(old);
    assert.deepEqual([first.status, (await app.predict(younger)).status], [200, 200]);
    await age(app, old, 36);
    await age(app, younger, 34);
    const answer = await app.predict(another(old));
    assert.deepEqual([answer.status, replayed(answer)], [200, false]);
    assert.notEqual(answer.body.prediction_id, first.body.prediction_id);
    assert.equal((await app.predict(younger)).status, 410);
    await expectUnits(app, 3);
  });

  it('the request ids of one app are kept apart from those of another', async () => {
    const [app, other, body] = [await system.app(), await system.app(), predictionBody()];
    const [answer, others] = [await app.predict(body), await other.predict(another(body))];
    assert.deepEqual([answer.status, others.status, replayed(others)], [200, 200, false]);
    assert.notEqual(others.body.prediction_id, answer.body.prediction_id);
    assert.equal(system.provider.calls.length, 2);
    await expectUnits(app, 1);
    await expectUnits(other, 1);
  });

  describe('equal bodies', () => {
    for (const [how, say] of [
      ['key order', (body: Full) => JSON.stringify(reversed(body))],
      ['white space', (body: Full) => JSON.stringify(body, null, '\t')],
      ['escapes', (body: Full) => JSON.stringify(body).replaceAll('e', '\\u0065')],
      [
        'the notation of a number',
        (body: Full) => JSON.stringify(body).replace('"revision":1}', '"revision":1.0e0}'),
      ],
      ['a default that is spelled out', (body: Full) => JSON.stringify({ ...body, ...DEFAULTS })],
      [
        'a default inside a list or an object',
        (body: Full) => JSON.stringify({ ...body, ...INNER_DEFAULTS }),
      ],
    ] as const) {
      it(`two bodies are the same whatever ${how} does`, async () => {
        const [app, body] = [await system.app(), fullBody()];
        const said = say(body);
        assert.notEqual(said, JSON.stringify(body));
        const answer = await app.predict(body);
        assert.equal(answer.status, 200, answer.text);
        const replay = await app.predict(said);
        assert.deepEqual([replay.status, replay.text, replayed(replay)], [200, answer.text, true]);
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

    it('two bodies differ when one field does, whichever: 409 idempotency_conflict', async () => {
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
        // An ingress may cache an app for two seconds.
        const unknown = { ...body, connection_id: 'c-unknown' };
        await until(async () => (await app.predict(unknown)).code === 'not_found');
        return reply;
      },
      '413 context_too_large': (app, body) =>
        app.predict({ ...body, draft: { text: 'x'.repeat(ENVELOPE + 1), revision: 9 } }),
      '422 undefined': (app, body) => app.predict({ ...body, extra: 1 }),
    };
    for (const [expected, refuse] of Object.entries(refusals)) {
      it(`a request refused with ${expected.replace('undefined', 'for a faulty body')} leaves no trace, and its id counts as new`, async () => {
        const [app, body] = [await system.app(), predictionBody()];
        const refused = await refuse(app, body);
        assert.equal(`${refused.status} ${refused.code}`, expected);
        assert.equal(await leftBehindBy(app), 0);
        await expectUnits(app, 0);
        const answer = await app.predict(another(body));
        assert.deepEqual([answer.status, replayed(answer)], [200, false], answer.text);
      });
    }
  });

  describe('many identical requests at once', () => {
    it('one of 100 identical requests at once, at two ingresses, runs: one provider call, one unit; the others get its bytes or 409 request_in_flight', async () => {
      const [app, body] = [await system.app(), predictionBody()];
      system.provider.respond(delay(100));
      const replies = await everywhere(100, (at) => app.predict(body, { at }));
      const answers = replies.filter(({ status }) => status === 200);
      for (const reply of replies) if (reply.status !== 200) inFlight(reply);
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
      assert.equal(answers.filter((answer) => !replayed(answer)).length, 1);
      assert.equal(system.provider.calls.length, 1);
      await expectUnits(app, 1);
    });

    it('100 identical requests at once with `Prefer: wait` all get the same 200', async () => {
      const [app, body] = [await system.app(), predictionBody()];
      system.provider.respond(delay(100));
      const answers = await everywhere(100, (at) => app.predict(body, { at, ...WAIT }));
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
      assert.equal(answers.filter((answer) => !replayed(answer)).length, 1);
      assert.equal(system.provider.calls.length, 1);
      await expectUnits(app, 1);
    });
  });

  /** Brings a request to its end in each way; resolves with what its caller got. */
  const endAs = {
    suggested: (app: AppClient, body: Body) => app.predict(body),
    abstained(app: AppClient, body: Body) {
      system.provider.next(refusal());
      return app.predict(body);
    },
    async cancelled(app: AppClient, body: Body) {
      const first = await hanging(app, body);
      assert.equal((await app.cancel(body.request_id, body.user_id)).body.status, 'cancelled');
      return first.reply;
    },
    async superseded(app: AppClient, body: Body) {
      const first = await hanging(app, body);
      assert.equal((await app.predict(newer(body))).status, 200);
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
      const first = await hanging(app, body);
      await alterRow(system, app, body, 'deadline_at = now()');
      return first.reply;
    },
  } satisfies Record<string, (app: AppClient, body: Body) => Promise<Answer>>;

  /** A request whose provider call lasts until the gate is opened, then ends by `step`. */
  async function heldRequest(step?: Parameters<typeof when>[1]) {
    const gate = Promise.withResolvers<void>();
    system.provider.respond(when(gate.promise, step));
    return [await system.app(), predictionBody(), gate] as const;
  }

  /** Resolves when the provider has the call, which it never answers; `reply` is its outcome. */
  async function hanging(app: AppClient, body: Body): Promise<{ reply: Promise<Answer> }> {
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

  /** Spreads `count` calls over the ingresses. */
  function everywhere(count: number, call: (at: { url: string }) => Promise<Answer>): Promise<Answer[]> {
    const { webs } = system;
    return Promise.all(Array.from({ length: count }, (_, i) => call(webs[i % webs.length] ?? { url: '' })));
  }

  /** The id of an ingress that was killed a second ago. */
  async function deadIngress(): Promise<string> {
    const { rows } = await system.database.pool.query<{ id: string }>(
      `insert into processes (id, kind, alive_until)
       values (gen_random_uuid(), 'web', now() - interval '1 second') returning id`,
    );
    return rows[0]?.id ?? '';
  }

  async function isAdmitted({ request_id }: Body): Promise<boolean> {
    return (await rowOf(system, { request_id }).catch(() => undefined)) !== undefined;
  }

  /** How many of the prediction's texts are kept. */
  async function texts(body: Body): Promise<number> {
    const { id } = await rowOf(system, body);
    const kept = await system.database.pool.query('select from answers where id = $1', [id]);
    return kept.rowCount ?? 0;
  }

  async function leftBehindBy(app: AppClient): Promise<number> {
    const kept = await system.database.pool.query(
      `select party from work where party = $1 union all select party from history where party = $1`,
      [app.id],
    );
    return kept.rowCount ?? 0;
  }

  /** Makes a prediction ended and its window over as of `days` ago. Its id encodes its age as well. */
  async function age(app: AppClient, body: Body, days: number): Promise<void> {
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

  async function expectUnits(app: AppClient, units: number): Promise<void> {
    const { prediction_units, reserved_units } = (await app.usage()).body;
    assert.deepEqual({ prediction_units, reserved_units }, { prediction_units: units, reserved_units: 0 });
  }
});

/** A body without any of the fields that have defaults, but for the two that have defaults inside. */
function fullBody() {
  return predictionBody({
    draft: { text: 'Please send the report to ', revision: 1 },
    messages: [{ role: 'user', content: 'Hi' }],
    artifact: { kind: 'slides', id: 'a', revision: '1' },
  });
}
type Full = ReturnType<typeof fullBody>;

const DEFAULTS = { connection_id: null, language: 'auto', user_preferences: '' };
const INNER_DEFAULTS = {
  messages: [{ role: 'user', content: 'Hi', origin: 'unknown' }],
  artifact: { kind: 'slides', id: 'a', revision: '1', selection: '', summary: '' },
};

function reversed(value: object): object {
  const entries = Object.entries(value).map(([key, part]) => [
    key,
    part !== null && typeof part === 'object' && !Array.isArray(part) ? reversed(part) : part,
  ]);
  return Object.fromEntries(entries.reverse());
}

function another(body: Body): Body {
  return { ...body, context_revision: 'c-another' };
}

/** The same person's next request in the same session. */
function newer(body: Body): Body {
  return predictionBody({
    session_id: body.session_id,
    draft: { ...body.draft, revision: body.draft.revision + 1 },
  });
}

function sameWaiters(a: PredictionRow, b: PredictionRow): boolean {
  return a.waiters.join() === b.waiters.join();
}

const replayed = (answer: Answer): boolean => answer.headers.get('idempotency-replayed') === 'true';

function conflict(answer: Answer): void {
  assert.deepEqual([answer.status, answer.code], [409, 'idempotency_conflict']);
}

function inFlight(answer: Answer): void {
  assert.deepEqual([answer.status, answer.code], [409, 'request_in_flight']);
  assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
}
