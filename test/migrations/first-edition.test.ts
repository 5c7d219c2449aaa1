import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { newId } from '../../shared/ids.ts';
import { predictionBody } from '../support/client.ts';
import { rowOf } from '../support/rows.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

describe('work that the first edition admitted', () => {
  let system: System;
  before(async () => {
    system = await startSystem();
  });
  after(() => system.stop());

  it('is run when no process of that edition takes it, for one unit, and its old row says how it ended', async () => {
    const app = await system.app();
    const body = predictionBody();
    const id = newId();
    const item = {
      place: 0,
      id,
      app_id: app.id,
      request_id: body.request_id,
      user_id: body.user_id,
      session_id: body.session_id,
      mode: body.mode,
      fingerprint: `\\x${randomBytes(32).toString('hex')}`,
      draft_revision: body.draft.revision,
      text_hash: `\\x${randomBytes(32).toString('hex')}`,
      context_revision: body.context_revision,
      request: JSON.stringify({
        artifact: null,
        language: 'auto',
        messages: [],
        user_preferences: '',
        ...body,
      }),
      wait: false,
      cancel_on_disconnect: false,
      overloaded: false,
    };
    const { rows } = await system.database.pool.query(
      `select outcome from admit_first_edition($1::json,
         (select id from processes where kind = 'web' limit 1), 10000, 600, 1000, 200000)`,
      [JSON.stringify([item])],
    );
    assert.deepEqual(rows, [{ outcome: 'admitted' }]);

    const old = await until(async () => {
      const found = await system.database.pool.query<{
        state: string;
        units: number;
        profile: string;
        answer: string | null;
      }>(
        `select p.state, p.units, p.profile_revision as profile, t.answer
           from predictions p join prediction_texts t on t.prediction_id = p.id
          where p.id = $1 and p.ended_at is not null`,
        [id],
      );
      return found.rows[0];
    });
    assert.deepEqual([old.state, old.units, old.profile], ['suggested', 1, 'none']);
    assert.ok(old.answer);
    assert.equal((await rowOf(system, body)).state, 'suggested');
    const { prediction_units, reserved_units } = (await app.usage()).body;
    assert.deepEqual([prediction_units, reserved_units], [1, 0]);
    assert.equal(system.provider.calls.length, 1);

    // The same id with another body: the new edition knows it.
    assert.equal((await app.predict(body)).code, 'idempotency_conflict');
  });
});
