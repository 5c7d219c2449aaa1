import assert from 'node:assert/strict';
import type { PredictionResponse } from '../../shared/schemas/predictions.ts';
import { type AppClient, predictionBody, type Reply } from '../support/client.ts';
import { hang, when } from '../support/fake-provider.ts';
import { rowOf } from '../support/rows.ts';
import { type System, startSystem } from '../support/system.ts';
import { alterApp, whileFrozen } from '../support/time-travel.ts';
import { until } from '../support/until.ts';

type Answer = Reply<PredictionResponse>;

const SUPERSEDED = [499, 'prediction_superseded'];
const AT_ONCE_MS = 500;

describe('superseding', () => {
  let system: System;
  before(async () => {
    system = await startSystem({ webs: 2 });
  });
  beforeEach(() => system.provider.reset());
  after(() => system.stop());

  it('a newer draft answers the older one 499 prediction_superseded at once and closes its provider call', async () => {
    const app = await system.app();
    for (const at of system.webs) {
      const older = await running(app, 1, { session_id: at.url.replaceAll('/', '') });
      const began = performance.now();
      const [newer, answer] = await Promise.all([
        app.predict(revision(2, { session_id: older.body.session_id }), { at }),
        older.reply.then((reply) => ({ ...reply, after: performance.now() - began })),
      ]);
      assert.deepEqual(outcome(answer), SUPERSEDED);
      assert.ok(answer.after < AT_ONCE_MS, `answered after ${answer.after} ms`);
      assert.equal(newer.status, 200);
      await until(() => older.call.abortedAt !== null);
      const abortedAfter = (older.call.abortedAt ?? Number.NaN) - began;
      assert.ok(abortedAfter < AT_ONCE_MS, `closed after ${abortedAfter} ms`);
    }
    await expectUnits(app, 2);
  });

  it('a newer draft reaches callers attached to the older one as well', async () => {
    const app = await system.app();
    const older = await running(app, 1);
    const attached = system.webs.map((at) => app.predict(older.body, { at, headers: { prefer: 'wait' } }));
    await until(async () => (await rowOf(system, older.body)).waiters.length === 2);
    await app.predict(revision(2));
    for (const reply of await Promise.all([older.reply, ...attached]))
      assert.deepEqual(outcome(reply), SUPERSEDED);
  });

  it('a newer draft makes a cancel of the older one return that it is cancelled', async () => {
    const app = await system.app();
    const older = await running(app, 1);
    await app.predict(revision(2));
    await older.reply;
    const { status, body } = await app.cancel(older.body.request_id, older.body.user_id);
    assert.deepEqual([status, body], [200, { status: 'cancelled', prediction_units: 0 }]);
    assert.deepEqual(outcome(await app.predict(older.body)), SUPERSEDED);
  });

  it('a newer draft ends an older one that is still queued, which is then never run', async () => {
    const app = await system.app();
    const older = revision(1);
    const newer = await whileFrozen(system.workers, async () => {
      const reply = app.predict(older);
      await admitted(older);
      const next = app.predict(revision(2));
      assert.deepEqual(outcome(await reply), SUPERSEDED);
      return { next };
    });
    assert.equal((await newer.next).status, 200);
    assert.deepEqual(drafts(), ['Draft 2']);
    await expectUnits(app, 1);
  });

  it('a newer draft ends every older one that is still running', async () => {
    const app = await system.app();
    await alterApp(system, app, 'supersede = false');
    const older = [await running(app, 1), await running(app, 2), await running(app, 3)];
    await alterApp(system, app, 'supersede = true');
    assert.equal((await app.predict(revision(4))).status, 200);
    for (const { reply } of older) assert.deepEqual(outcome(await reply), SUPERSEDED);
    await expectUnits(app, 1);
  });

  it('a newer draft leaves an answered one alone', async () => {
    const app = await system.app();
    const older = revision(1);
    const answer = await app.predict(older);
    assert.equal((await app.predict(revision(2))).status, 200);
    const again = await app.predict(older);
    assert.deepEqual([again.status, again.text], [200, answer.text]);
    await expectUnits(app, 2);
  });

  describe('what supersedes nothing', () => {
    for (const [what, olderPart, newerRevision, newerPart] of [
      ['the same revision again', {}, 1, {}],
      ['one in another session', {}, 2, { session_id: 's-2' }],
      ['one of another user', {}, 2, { user_id: 'u-2' }],
      ['a next_prompt', {}, 2, { mode: 'next_prompt' }],
      ['a draft when it is a next_prompt', { mode: 'next_prompt' }, 2, {}],
      ['a next_prompt when it is one, too', { mode: 'next_prompt' }, 2, { mode: 'next_prompt' }],
    ] as const) {
      it(`a draft is not superseded by ${what}`, async () => {
        const app = await system.app();
        const older = await held(app, 1, olderPart);
        const newer = await app.predict(revision(newerRevision, newerPart));
        older.release();
        assert.deepEqual([newer.status, (await older.reply).status], [200, 200], newer.text);
        assert.equal(older.call.abortedAt, null);
        await expectUnits(app, 2);
      });
    }

    it('a draft is not superseded by one of another app', async () => {
      const [app, other] = [await system.app(), await system.app()];
      const older = await held(app, 1);
      assert.equal((await other.predict(revision(2))).status, 200);
      older.release();
      assert.equal((await older.reply).status, 200);
    });
  });

  it('superseding is off for an app that turned it off: both are answered and charged', async () => {
    const app = await system.app();
    await alterApp(system, app, 'supersede = false');
    const older = await held(app, 1);
    assert.equal((await app.predict(revision(2))).status, 200);
    older.release();
    assert.equal((await older.reply).status, 200);
    await expectUnits(app, 2);
  });

  it('superseding is not done by a request that is refused', async () => {
    const app = await system.app({ plan: 'paid', capCents: null });
    const older = await held(app, 5);
    const refused = async (body: object) => outcome(await app.predict(body));
    await alterApp(system, app, 'cap_cents = 0');
    assert.deepEqual(await refused(revision(6)), [402, 'monthly_cap_reached']);
    await alterApp(system, app, 'cap_cents = null');
    assert.deepEqual(await refused(revision(4)), [409, 'context_revision_conflict']);
    assert.deepEqual(await refused(revision(6, { request_id: older.body.request_id })), [
      409,
      'idempotency_conflict',
    ]);
    assert.deepEqual(await refused(revision(6, { connection_id: 'c-unknown' })), [404, 'not_found']);
    older.release();
    assert.equal((await older.reply).status, 200);
    await expectUnits(app, 1);
  });

  it('only the last of ten revisions in quick succession is answered, for one unit', async () => {
    const app = await system.app();
    const replies: Promise<Answer>[] = [];
    const gate = Promise.withResolvers<void>();
    system.provider.respond(when(gate.promise));
    for (let i = 1; i <= 10; i += 1) {
      const [body, at] = [revision(i), system.webs[i % 2]];
      replies.push(app.predict(body, at && { at }));
      await admitted(body);
    }
    gate.resolve();
    const outcomes = (await Promise.all(replies)).map(outcome);
    assert.deepEqual(outcomes, [...Array.from({ length: 9 }, () => SUPERSEDED), [200, undefined]]);
    await expectUnits(app, 1);
  });

  it('the highest of thirty revisions at once, in any order, is answered, for one unit', async () => {
    const app = await system.app();
    system.provider.respond((response, call) => {
      // A request that is not superseded while the others arrive would be charged as well.
      const last = call.record.draft === 'Draft 30';
      return when(last ? Promise.resolve() : call.ended)(response, call);
    });
    const order = Array.from({ length: 30 }, (_, i) => ((i * 7) % 30) + 1);
    const replies = await Promise.all(
      order.map(async (i) => {
        const at = system.webs[i % 2];
        return { i, reply: await app.predict(revision(i), at && { at }) };
      }),
    );
    for (const { i, reply } of replies) {
      const refused = ['prediction_superseded', 'context_revision_conflict'].includes(reply.code ?? '');
      assert.ok(i === 30 ? reply.status === 200 : refused, `revision ${i}: ${reply.text}`);
    }
    await expectUnits(app, 1);
  });

  /** A request whose provider call runs until it is aborted. */
  async function running(app: AppClient, revisionNumber: number, part: object = {}) {
    const body = revision(revisionNumber, part);
    system.provider.next(hang());
    const place = system.provider.calls.length + 1;
    const reply = app.predict(body);
    return { body, reply, call: await system.provider.called(place) };
  }

  /** The same, until it is released and answers. */
  async function held(app: AppClient, revisionNumber: number, part: object = {}) {
    const body = revision(revisionNumber, part);
    const gate = Promise.withResolvers<void>();
    system.provider.next(when(gate.promise));
    const place = system.provider.calls.length + 1;
    const reply = app.predict(body);
    return { body, reply, call: await system.provider.called(place), release: gate.resolve };
  }

  async function admitted(body: { request_id: string }): Promise<void> {
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

/** A request in the session `s-1`, with a text of its revision. */
function revision<Part extends object>(number: number, part?: Part) {
  return predictionBody({ session_id: 's-1', draft: { text: `Draft ${number}`, revision: number }, ...part });
}

function outcome({ status, code }: Answer) {
  return [status, code];
}
