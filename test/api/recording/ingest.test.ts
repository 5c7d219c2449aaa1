import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { signUp, type UserClient } from '../../support/account.ts';
import { pluck } from '../../support/pluck.ts';
import { countOf, event, post, recording } from '../../support/recording.ts';
import { untilLocked } from '../../support/row-lock.ts';
import { useSystem } from '../../support/system.ts';

describe('posting recording events', () => {
  const system = useSystem({ workers: 0 });
  let ann: UserClient;
  let bob: UserClient;
  before(async () => {
    [ann, bob] = await Promise.all([signUp(system), signUp(system)]);
  });

  const sessionOf = async (user: UserClient, id: string) => {
    const { body } = await recording.sessionEvents(user, id);
    return body.session;
  };

  it('posting events is 201 if any event is new, and otherwise 200', async () => {
    const batch = [event(), event({ type: 'note', text: 'n' })];
    const first = await post(ann, batch);
    assert.deepEqual([first.status, first.body], [201, { accepted: 2, duplicates: 0, invalid: [] }]);
    const again = await post(ann, batch);
    assert.deepEqual([again.status, again.body], [200, { accepted: 0, duplicates: 2, invalid: [] }]);
  });

  it('posting events is 200 even if no row is valid', async () => {
    const { status, body } = await post(ann, [{}, 7]);
    assert.equal(status, 200);
    assert.deepEqual([body.accepted, body.duplicates], [0, 0]);
    assert.deepEqual(pluck(body.invalid, 'index'), [0, 1]);
  });

  it('posting events is 422 for a body that is not a list of 1 to 1000 rows', async () => {
    for (const body of [
      '{}',
      '[]',
      '"x"',
      'null',
      JSON.stringify(Array.from({ length: 1001 }, () => event())),
    ]) {
      const { status, text } = await post(ann, body);
      assert.equal(status, 422);
      assert.deepEqual(JSON.parse(text).detail[0].loc, ['body']);
    }
  });

  it('posting events accepts a body of 16 MiB, and is 413 for a larger one', async () => {
    const rows = (bytes: number) => {
      const row = event({ type: 'custom.big', payload: { filler: '' } });
      const empty = JSON.stringify([row]);
      return empty.replace('"filler":""', `"filler":"${'x'.repeat(bytes - empty.length)}"`);
    };
    assert.equal((await post(ann, rows(16 * 1024 * 1024))).status, 201);
    assert.equal((await post(ann, rows(16 * 1024 * 1024 + 1))).status, 413);
  });

  it('a stored event stays unchanged when its id is posted again, even in another session', async () => {
    const first = event({ extra: 'first' });
    await post(ann, [first]);
    const other = event({ id: first.id, extra: 'second' });
    const { body } = await post(ann, [other]);
    assert.deepEqual(body, { accepted: 0, duplicates: 1, invalid: [] });
    assert.equal((await recording.event(ann, first.id)).body['extra'], 'first');
    assert.equal((await recording.sessionEvents(ann, other.session_id)).status, 404);
  });

  it('a duplicate event does not change its session', async () => {
    const started = event({ type: 'session.started', source: 'one', occurred_at: '2026-01-01T00:00:00Z' });
    await post(ann, [started]);
    const before = await sessionOf(ann, started.session_id);
    await post(ann, [{ ...started, source: 'two' }]);
    await post(ann, [{ ...started, type: 'session.stopped' }]);
    assert.deepEqual(await sessionOf(ann, started.session_id), before);
  });

  it('of several events with the same id in a batch, the first valid one is stored', async () => {
    const id = randomUUID();
    const session_id = randomUUID();
    const { body } = await post(ann, [
      event({ id, session_id, source: 5 }),
      event({ id, session_id, extra: 1 }),
      event({ id, session_id: randomUUID(), extra: 2 }),
      event({ id, source: undefined }),
    ]);
    assert.deepEqual([body.accepted, body.duplicates], [1, 1]);
    assert.deepEqual(pluck(body.invalid, 'index'), [0, 3]);
    assert.equal((await recording.event(ann, id)).body['extra'], 1);
  });

  it('different accounts may use the same event id', async () => {
    const id = randomUUID();
    for (const user of [ann, bob]) assert.equal((await post(user, [event({ id })])).body.accepted, 1);
  });

  it("events for another account's session are refused, and the other events of the batch are stored", async () => {
    const hers = event();
    await post(ann, [hers]);
    const known = event();
    await post(bob, [known]);
    const session_id = hers.session_id;
    const twin = randomUUID();
    const { status, body } = await post(bob, [
      event({ session_id }),
      event({ id: known.id, session_id }),
      event({ id: twin, session_id }),
      event({ id: twin }),
      event({ id: twin, session_id }),
      event({ session_id, source: '' }),
    ]);
    const errors = ['session belongs to another user'];
    assert.equal(status, 201);
    assert.deepEqual([body.accepted, body.duplicates], [1, 2]);
    assert.deepEqual(body.invalid.slice(0, 2), [
      { index: 0, errors },
      { index: 2, errors },
    ]);
    assert.deepEqual(body.invalid[2]?.index, 5);
    assert.notDeepEqual(body.invalid[2]?.errors, errors);
    assert.equal((await sessionOf(ann, session_id)).owner, ann.id);
  });

  it('an invalid event creates no session', async () => {
    const row = event({ prompt: 5 });
    await post(ann, [row]);
    assert.equal((await recording.sessionEvents(ann, row.session_id)).status, 404);
    assert.equal((await post(bob, [event({ session_id: row.session_id })])).body.accepted, 1);
  });

  it('a session without a session.started event starts at the time of the event that arrived first', async () => {
    const first = event({ occurred_at: '2026-03-01T10:00:00+02:00', source_detail: 'tab 1' });
    await post(ann, [first, event({ session_id: first.session_id, occurred_at: '2026-02-01T00:00:00Z' })]);
    assert.deepEqual(await sessionOf(ann, first.session_id), {
      session_id: first.session_id,
      owner: ann.id,
      started_at: '2026-03-01T08:00:00.000Z',
      source: first.source,
      source_detail: 'tab 1',
      ended_at: null,
    });
  });

  it('a session starts at the time of the session.started event that arrived last', async () => {
    const first = event({ occurred_at: '2026-03-01T10:00:00Z', source_detail: 'tab 1' });
    const { session_id } = first;
    const startEvent = (part: object) => event({ type: 'session.started', session_id, ...part });
    const anchor = async () => {
      const { started_at, source, source_detail } = await sessionOf(ann, session_id);
      return [started_at, source, source_detail];
    };
    await post(ann, [first, event({ session_id })]);
    await post(ann, [
      startEvent({ occurred_at: '2026-03-05T00:00:00Z', source: 'later', source_detail: 'x' }),
      startEvent({ occurred_at: '2026-02-01T00:00:00Z', source: 'editor', source_detail: 'main' }),
    ]);
    assert.deepEqual(await anchor(), ['2026-02-01T00:00:00.000Z', 'editor', 'main']);
    await post(ann, [startEvent({ occurred_at: '2026-04-01T00:00:00Z', source: 'phone' })]);
    assert.deepEqual(await anchor(), ['2026-04-01T00:00:00.000Z', 'phone', null]);
  });

  it('the end of a session moves only forward', async () => {
    const session_id = randomUUID();
    const stop = async (occurred_at: string) => {
      await post(ann, [event({ type: 'session.stopped', session_id, occurred_at })]);
      return (await sessionOf(ann, session_id)).ended_at;
    };
    assert.equal(await stop('2026-03-02T00:00:00Z'), '2026-03-02T00:00:00.000Z');
    assert.equal(await stop('2026-03-01T00:00:00Z'), '2026-03-02T00:00:00.000Z');
    assert.equal(await stop('2026-03-03T00:00:00Z'), '2026-03-03T00:00:00.000Z');
    await post(ann, [
      event({ type: 'session.stopped', session_id, occurred_at: '2026-03-09T00:00:00Z' }),
      event({ type: 'session.stopped', session_id, occurred_at: '2026-03-04T00:00:00Z' }),
    ]);
    assert.equal((await sessionOf(ann, session_id)).ended_at, '2026-03-09T00:00:00.000Z');
  });

  it('a session that two accounts create concurrently belongs to only one of them', async () => {
    for (let n = 0; n < 10; n += 1) {
      const ids = Array.from({ length: 20 }, () => randomUUID());
      const batch = (order: string[]) => order.map((session_id) => event({ session_id }));
      const [his, hers] = await Promise.all([post(bob, batch(ids)), post(ann, batch(ids.toReversed()))]);
      assert.deepEqual([his.body.duplicates, hers.body.duplicates], [0, 0]);
      assert.equal(his.body.accepted + hers.body.accepted, ids.length);
      for (const { body } of [his, hers]) assert.equal(body.accepted + body.invalid.length, ids.length);
    }
  });

  for (const [outcome, effect, expected] of [
    ['commit', 'refused', { accepted: 1, duplicates: 1 }],
    ['rollback', 'stored', { accepted: 2, duplicates: 2 }],
  ] as const)
    it(`events of a session wait while the transaction of another account creates it, and are ${effect} after its ${outcome}`, async () => {
      const { pool } = system.database;
      const [session_id, twin] = [randomUUID(), randomUUID()];
      const other = await pool.connect();
      let posting: ReturnType<typeof post>;
      try {
        await other.query('begin');
        await other.query(
          `insert into recording_sessions (id, account_id, started_at, source, created_at, last_arrival)
           values ($1, $2, now(), 'test', now(), 0)`,
          [session_id, bob.id],
        );
        posting = post(ann, [
          event({ session_id }),
          event({ id: twin, session_id }),
          event({ id: twin, extra: 'second' }),
          event({ id: twin, session_id }),
        ]);
        await untilLocked(system, 'record_v1');
        await other.query(outcome);
      } finally {
        other.release();
      }
      const { accepted, duplicates, invalid } = (await posting).body;
      assert.deepEqual({ accepted, duplicates }, expected);
      assert.deepEqual(pluck(invalid, 'index'), outcome === 'commit' ? [0, 1] : []);
      assert.equal(
        (await recording.event(ann, twin)).body['extra'],
        outcome === 'commit' ? 'second' : undefined,
      );
    });

  it('events posted by 8 concurrent clients are stored once per id, and every row is counted #whole-batch', async () => {
    const user = await signUp(system);
    const some = (n: number) => event({ session_id: `${user.id}-${n % 7}` });
    const shared = Array.from({ length: 300 }, (_, n) => some(n));
    const batch = () => {
      const rows = [
        ...shared,
        ...Array.from({ length: 50 }, () => ({ ...event(), source: '' })),
        ...Array.from({ length: 650 }, (_, n) => some(n)),
      ];
      return rows.sort(() => Math.random() - 0.5);
    };
    const replies = await Promise.all(Array.from({ length: 8 }, () => post(user, batch())));
    for (const { body } of replies) {
      assert.equal(body.accepted + body.duplicates + body.invalid.length, 1000);
      assert.equal(body.invalid.length, 50);
    }
    const accepted = replies.reduce((sum, { body }) => sum + body.accepted, 0);
    assert.equal(accepted, 300 + 8 * 650);
    assert.deepEqual(await countOf(system, user), { events: accepted, ids: accepted });
  });

  it('a batch of events has the same outcome as its events posted one after another', async () => {
    const row = fc.record({
      id: fc.constantFrom('a', 'b', 'c'),
      session: fc.constantFrom('mine', 'theirs', 'new', 'newer'),
      valid: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 12 }), async (rows) => {
        const run = randomUUID();
        const idOf = (name: string) => `${run} ${name}`;
        await post(bob, [event({ session_id: idOf('theirs') })]);
        await post(ann, [event({ id: idOf('c'), session_id: idOf('mine') })]);
        const batch = rows.map(({ id, session, valid }) =>
          event({ id: idOf(id), session_id: idOf(session), ...(!valid && { prompt: null }) }),
        );
        const known = new Set(['c']);
        const expected = { accepted: 0, duplicates: 0, invalid: [] as number[] };
        for (const [index, { id, session, valid }] of rows.entries()) {
          if (valid && known.has(id)) expected.duplicates += 1;
          else if (!valid || session === 'theirs') expected.invalid.push(index);
          else {
            known.add(id);
            expected.accepted += 1;
          }
        }
        const { body } = await post(ann, batch);
        assert.deepEqual({ ...body, invalid: pluck(body.invalid, 'index') }, expected);
      }),
      { numRuns: 60 },
    );
  });

  describe('recording faults', () => {
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
        await untilLocked(system, 'record_v1');
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
});
