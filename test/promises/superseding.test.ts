import assert from 'node:assert/strict';
import type { PredictionResponse } from '../../shared/schemas/predictions.ts';
import { type AppClient, predictionBody, type Reply } from '../support/client.ts';
import { hang, when } from '../support/fake-provider.ts';
import { rowOf } from '../support/rows.ts';
import { useSystem } from '../support/system.ts';
import { alterApp, whileFrozen } from '../support/time-travel.ts';
import { until } from '../support/until.ts';

type Answer = Reply<PredictionResponse>;

const SUPERSEDED = [499, 'prediction_superseded'];

describe('superseding', () => {
  const system = useSystem({ webs: 2 });
  beforeEach(() => system.provider.reset());

  it("a newer draft ends an older draft's request (499 prediction_superseded) and provider call within 500 ms in 9 of 10 tries #supersede", async () => {
    const app = await system.app();
    const times: number[] = [];
    for (let n = 0; n < 10; n += 1) {
      const at = system.webs[n % 2];
      const older = await predictHanging(app, 1, { session_id: `s-${n}` });
      const began = performance.now();
      const [newer, answer, answeredAt, abortedAt] = await Promise.all([
        app.predict(requestOfRevision(2, { session_id: older.body.session_id }), at && { at }),
        older.reply,
        older.reply.then(() => performance.now()),
        older.call.aborted,
      ]);
      assert.deepEqual([newer.status, outcome(answer)], [200, SUPERSEDED]);
      times.push(Math.max(answeredAt, abortedAt) - began);
    }
    await expectUnits(app, 10);
    // Without wake-ups, about half of the drafts would take longer. One may, since the machine may be busy.
    const slow = times.filter((ms) => ms > 500);
    assert.ok(slow.length <= 1, JSON.stringify(times));
  });

  it('all callers attached to an older draft get 499 prediction_superseded when a newer draft comes', async () => {
    const app = await system.app();
    const older = await predictHanging(app, 1);
    const attached = system.webs.map((at) => app.predict(older.body, { at, headers: { prefer: 'wait' } }));
    await until(async () => (await rowOf(system, older.body)).waiters.length === 2);
    await app.predict(requestOfRevision(2));
    for (const reply of await Promise.all([older.reply, ...attached]))
      assert.deepEqual(outcome(reply), SUPERSEDED);
  });

  it('a newer draft supersedes an older draft that is still queued, which then never runs #supersede', async () => {
    const app = await system.app();
    const older = requestOfRevision(1);
    const newer = await whileFrozen(system.workers, async () => {
      const reply = app.predict(older);
      await untilAdmitted(older);
      const next = app.predict(requestOfRevision(2));
      assert.deepEqual(outcome(await reply), SUPERSEDED);
      return { next };
    });
    assert.equal((await newer.next).status, 200);
    assert.deepEqual(drafts(), ['Draft 2']);
    await expectUnits(app, 1);
  });

  it('a newer draft does not affect an older draft that was answered', async () => {
    const app = await system.app();
    const older = requestOfRevision(1);
    const answer = await app.predict(older);
    assert.equal((await app.predict(requestOfRevision(2))).status, 200);
    const again = await app.predict(older);
    assert.deepEqual([again.status, again.text], [200, answer.text]);
    await expectUnits(app, 2);
  });

  describe('requests that do not supersede', () => {
    for (const [what, olderPart, newerRevision, newerPart] of [
      ['the same revision again', {}, 1, {}],
      ['a draft in another session', {}, 2, { session_id: 's-2' }],
      ['a draft of another user', {}, 2, { user_id: 'u-2' }],
      ['a newer next_prompt', {}, 2, { mode: 'next_prompt' }],
      ['a newer draft if the older one is a next_prompt', { mode: 'next_prompt' }, 2, {}],
      [
        'a newer next_prompt if the older one is a next_prompt too',
        { mode: 'next_prompt' },
        2,
        { mode: 'next_prompt' },
      ],
    ] as const) {
      it(`a draft is not superseded by ${what}`, async () => {
        const app = await system.app();
        const older = await predictHeld(app, 1, olderPart);
        const newer = await app.predict(requestOfRevision(newerRevision, newerPart));
        older.release();
        assert.deepEqual([newer.status, (await older.reply).status], [200, 200], newer.text);
        assert.equal(older.call.abortedAt, null);
        await expectUnits(app, 2);
      });
    }

    it('a draft is not superseded by a draft of another app', async () => {
      const [app, other] = [await system.app(), await system.app()];
      const older = await predictHeld(app, 1);
      assert.equal((await other.predict(requestOfRevision(2))).status, 200);
      older.release();
      assert.equal((await older.reply).status, 200);
    });
  });

  it('an older and a newer draft are both answered and charged if superseding is off for the app', async () => {
    const app = await system.app();
    await alterApp(system, app, 'supersede = false');
    const older = await predictHeld(app, 1);
    assert.equal((await app.predict(requestOfRevision(2))).status, 200);
    older.release();
    assert.equal((await older.reply).status, 200);
    await expectUnits(app, 2);
  });

  it('a refused request does not supersede an older draft', async () => {
    const app = await system.app({ plan: 'paid', capCents: null });
    const older = await predictHeld(app, 5);
    const outcomeOf = async (body: object) => outcome(await app.predict(body));
    await alterApp(system, app, 'cap_cents = 0');
    assert.deepEqual(await outcomeOf(requestOfRevision(6)), [402, 'monthly_cap_reached']);
    await alterApp(system, app, 'cap_cents = null');
    assert.deepEqual(await outcomeOf(requestOfRevision(4)), [409, 'context_revision_conflict']);
    assert.deepEqual(await outcomeOf(requestOfRevision(6, { request_id: older.body.request_id })), [
      409,
      'idempotency_conflict',
    ]);
    assert.deepEqual(await outcomeOf(requestOfRevision(6, { connection_id: 'c-unknown' })), [
      404,
      'not_found',
    ]);
    older.release();
    assert.equal((await older.reply).status, 200);
    await expectUnits(app, 1);
  });

  it('only the highest of thirty concurrent revisions of a draft in mixed order is answered, for one unit', async () => {
    const app = await system.app();
    system.provider.respond((response, call) => {
      // The other revisions run until they are superseded: one that ended earlier would also be charged.
      const last = call.record.draft === 'Draft 30';
      return when(last ? Promise.resolve() : call.ended)(response, call);
    });
    const order = Array.from({ length: 30 }, (_, i) => ((i * 7) % 30) + 1);
    const replies = await Promise.all(
      order.map(async (i) => {
        const at = system.webs[i % 2];
        return { i, reply: await app.predict(requestOfRevision(i), at && { at }) };
      }),
    );
    for (const { i, reply } of replies) {
      const refused = ['prediction_superseded', 'context_revision_conflict'].includes(reply.code ?? '');
      assert.ok(i === 30 ? reply.status === 200 : refused, `revision ${i}: ${reply.text}`);
    }
    await expectUnits(app, 1);
  });

  /** Sends a request whose provider call runs until it is aborted. */
  async function predictHanging(app: AppClient, revisionNumber: number, part: object = {}) {
    const body = requestOfRevision(revisionNumber, part);
    system.provider.next(hang());
    const place = system.provider.calls.length + 1;
    const reply = app.predict(body);
    return { body, reply, call: await system.provider.called(place) };
  }

  /** Sends a request whose provider call runs until it is released, and then answers. */
  async function predictHeld(app: AppClient, revisionNumber: number, part: object = {}) {
    const body = requestOfRevision(revisionNumber, part);
    const gate = Promise.withResolvers<void>();
    system.provider.next(when(gate.promise));
    const place = system.provider.calls.length + 1;
    const reply = app.predict(body);
    return { body, reply, call: await system.provider.called(place), release: gate.resolve };
  }

  async function untilAdmitted(body: { request_id: string }): Promise<void> {
    await until(() => rowOf(system, body).catch(() => undefined));
  }

  function drafts(): string[] {
    return system.provider.calls.map(({ record }) => record.draft);
  }

  async function expectUnits(app: AppClient, units: number): Promise<void> {
    const { prediction_units, reserved_units } = (await app.usage()).body;
    assert.deepEqual({ prediction_units, reserved_units }, { prediction_units: units, reserved_units: 0 });
  }
});

/** Makes a request in session `s-1` whose draft text names its revision. */
function requestOfRevision<Part extends object>(number: number, part?: Part) {
  return predictionBody({ session_id: 's-1', draft: { text: `Draft ${number}`, revision: number }, ...part });
}

function outcome({ status, code }: Answer) {
  return [status, code];
}
