import assert from 'node:assert/strict';
import { signUp, type UserClient } from '../../support/account.ts';
import { pluck } from '../../support/pluck.ts';
import { countOf, event, post, recording } from '../../support/recording.ts';
import { useSystem } from '../../support/system.ts';
import { until } from '../../support/until.ts';

describe('recording faults', () => {
  const system = useSystem({ workers: 0 });
  let user: UserClient;
  beforeEach(async () => {
    user = await signUp(system);
  });

  const assertNothingStored = async (owner: UserClient) => {
    assert.deepEqual(await countOf(system, owner), { events: 0, ids: 0 });
    const rows = await system.sql('select from recording_sessions where account_id = $1', [owner.id]);
    assert.equal(rows.length, 0);
  };

  const failures = {
    'the disk is full': `raise exception 'no space left' using errcode = '53100'`,
    'the database ends the connection': `perform pg_terminate_backend(pg_backend_pid()); perform pg_sleep(5)`,
  };
  for (const [name, failure] of Object.entries(failures)) {
    it(`a batch of events is 503, and no event is stored, if ${name} meanwhile #whole-batch`, async () => {
      const { pool } = system.database;
      const batch = Array.from({ length: 1000 }, () => event());
      await pool.query(`
        create function fail() returns trigger language plpgsql as $$ begin ${failure}; return new; end $$;
        create trigger fail before insert on recording_events for each row
          when (new.id = '${batch[600]?.id}') execute function fail()`);
      try {
        const { status, code, headers } = await post(user, batch);
        assert.deepEqual([status, code], [503, 'service_unavailable']);
        assert.match(headers.get('retry-after') ?? '', /^[1-9]/);
        await assertNothingStored(user);
      } finally {
        await pool.query('drop function fail cascade');
      }
      assert.equal((await post(user, batch)).body.accepted, 1000);
    });
  }

  it('a batch of events is 401, and no event is stored, if its account is erased meanwhile', async () => {
    const { pool } = system.database;
    // Puts the account's credential into the ingress's cache.
    assert.equal((await recording.sessions(user)).status, 200);
    const erasure = await pool.connect();
    let posting: ReturnType<typeof post>;
    try {
      await erasure.query('begin');
      await erasure.query('delete from accounts where id = $1', [user.id]);
      posting = post(user, [event()]);
      await until(async () => {
        const { rowCount } = await pool.query(
          `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%record_v1%'`,
        );
        return rowCount === 1;
      });
      await erasure.query('commit');
    } finally {
      erasure.release();
    }
    const { status, code } = await posting;
    assert.deepEqual([status, code], [401, 'not_authenticated']);
    await assertNothingStored(user);
  });

  it('each hostile row of a batch of events is reported, and the valid row among them is stored', async () => {
    const good = event();
    const json = (part: string) => JSON.stringify(event()).replace(/}$/, `,${part}}`);
    const rows = [
      json('"extra":"\\u0000"'),
      json('"extra":"\\ud800"'),
      json('"\\udc00":1'),
      json('"id":"a\\u0000"'),
      json('"__proto__":{"accepted":7}'),
      json('"extra":1e999'),
      json('"occurred_at":"2016-12-31T23:59:60Z"'),
      json('"occurred_at":"10000-01-01T00:00:00Z"'),
      json('"occurred_at":"2026-01-01T00:00:00"'),
      json(`"occurred_at":"${new Date(Date.now() + 25 * 3_600_000).toISOString()}"`),
      json('"type":"constructor"'),
      json('"type":{"toString":1}'),
      'null',
      '"text"',
    ];
    const { status, body } = await post(user, `[${[...rows, JSON.stringify(good)].join()}]`);
    assert.equal(status, 201);
    assert.deepEqual([body.accepted, body.duplicates], [1, 0]);
    assert.deepEqual(
      pluck(body.invalid, 'index'),
      rows.map((_, index) => index),
    );
    assert.ok(body.invalid.every(({ errors }) => errors.length >= 1 && errors.length <= 3));
    assert.equal((await recording.event(user, good.id)).status, 200);
  });

  it('a batch of events with one row nested too deeply is 413, and none of its rows is stored', async () => {
    const good = event();
    for (const row of [
      JSON.stringify(event()).replace(/}$/, `,"extra":${'['.repeat(100_000)}${']'.repeat(100_000)}}`),
      '['.repeat(1_000_000) + ']'.repeat(1_000_000),
    ]) {
      const { status, code } = await post(user, `[${row},${JSON.stringify(good)}]`);
      assert.deepEqual([status, code], [413, 'body_too_large']);
    }
    assert.equal((await recording.event(user, good.id)).status, 404);
  });
});
