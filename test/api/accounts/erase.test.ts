import assert from 'node:assert/strict';
import type { LoginResponse, NewKeyResponse } from '../../../shared/schemas/accounts.ts';
import { anonymously, eraseAccount, isGone, signUp, type UserClient } from '../../support/account.ts';
import { predictionBody } from '../../support/client.ts';
import { connect, connectingApp } from '../../support/connection.ts';
import { hang, ok, status } from '../../support/fake-provider.ts';
import { pluck } from '../../support/pluck.ts';
import { event, post } from '../../support/recording.ts';
import { predictSuccessfully, proposeReplies } from '../../support/replies.ts';
import { lockRow, untilLocked } from '../../support/row-lock.ts';
import { rowOf } from '../../support/rows.ts';
import { useSystem } from '../../support/system.ts';
import { until } from '../../support/until.ts';

describe('erasing an account', () => {
  // Makes both ingresses issue tokens under the same URL.
  const system = useSystem({
    webs: 2,
    workerEntry: ['workers/main.ts', 'all'],
    env: { PUBLIC_URL: 'http://localhost:8080' },
  });

  beforeEach(() => system.provider.reset());

  /** Requests the erasure, and returns as soon as the request is answered. */
  const beginErasing = async (person: UserClient) => {
    const { status, text } = await person.request('DELETE', '/api/auth/me/');
    assert.deepEqual({ status, text }, { status: 204, text: '' });
  };

  const storedAnswers = async (id: string) => {
    const rows = await system.sql(`select from answers where id = $1`, [id]);
    return rows.length;
  };

  it('erasing an account ends its credentials within two seconds, and frees its e-mail address and session ids', async () => {
    const person = await signUp(system);
    const { body: key } = await person.post<{ key: string }>('/api/auth/keys/', { label: 'k' });
    const mine = event();
    await post(person, [mine]);
    const { email, password } = person;
    const statuses = async () => {
      const headers = { 'x-service-api-key': key.key };
      const replies = await Promise.all(
        system.webs.flatMap((at) => [
          person.get('/api/auth/keys/', { at }),
          anonymously(system, 'GET', '/api/auth/keys/', undefined, { at, headers }),
        ]),
      );
      return pluck(replies, 'status').join();
    };
    assert.equal(await statuses(), '200,200,200,200');
    await beginErasing(person);
    await until(async () => (await statuses()) === '401,401,401,401', 2000);
    const { refresh } = person;
    const renewed = await anonymously(system, 'POST', '/api/auth/token/refresh/', { refresh });
    assert.equal(renewed.code, 'not_authenticated');
    const login = await anonymously(system, 'POST', '/api/auth/login/', { email, password });
    assert.equal(login.code, 'invalid_credentials');

    const heir = await signUp(system, { email });
    await until(() => isGone(system, person));
    assert.notEqual(heir.id, person.id);
    const { body } = await post(heir, [mine]);
    assert.deepEqual(body, { accepted: 1, duplicates: 0, invalid: [] });
  });

  it('erasing an account also removes its e-mail address from the waitlist', async () => {
    const person = await signUp(system);
    const other = `x${person.email}`;
    for (const email of [person.email.toUpperCase(), other])
      await anonymously(system, 'POST', '/api/auth/waitlist/', { email });
    await beginErasing(person);
    const rows = await system.sql('select email from waitlist');
    assert.deepEqual(rows, [{ email: other }]);
  });

  it('erasing an account also erases a predicted reply that another transaction is changing', async () => {
    const person = await signUp(system);
    system.provider.respond(proposeReplies([{ response: 'Blue' }]));
    const reply = await predictSuccessfully(person);
    const { pool } = system.database;
    const client = await pool.connect();
    try {
      await client.query('begin');
      await client.query('update replies set actual_response = $2 where id = $1', [
        reply.id,
        'A private answer',
      ]);
      const erased = beginErasing(person);
      await untilLocked(system);
      await client.query('commit');
      await erased;
    } finally {
      client.release();
    }
    await until(() => isGone(system, person));
    const { rows } = await pool.query(
      'select agent_input, actual_response from replies where account_id = $1',
      [person.id],
    );
    assert.deepEqual(rows, []);
  });

  it('requests with the cached credentials of an erased account get 401 #revoked-credential', async () => {
    const person = await signUp(system);
    const { body: key } = await person.post<NewKeyResponse>('/api/auth/keys/', { label: 'k' });
    const readWithKey = () =>
      anonymously(system, 'GET', '/api/auth/me/', undefined, { headers: { 'x-service-api-key': key.key } });
    for (const { status } of [await person.get('/api/auth/me/'), await readWithKey()])
      assert.equal(status, 200);
    await beginErasing(person);
    const replies = await Promise.all([
      person.get('/api/auth/me/'),
      person.request('PATCH', '/api/auth/me/', { name: 'ghost' }),
      person.post('/api/auth/keys/', { label: 'ghost' }),
      person.get('/api/export/'),
      person.post('/api/memory/facts/', { text: 'ghost' }),
      readWithKey(),
      post(person, [event()]),
    ]);
    assert.deepEqual(
      replies.map(({ status, code }) => `${status} ${code}`),
      Array(7).fill('401 not_authenticated'),
    );
  });

  it("erasing an account ends its connections' running predictions, and erases the answers of earlier ones #erased-work", async () => {
    const [person, other] = await Promise.all([signUp(system), signUp(system)]);
    const app = await connectingApp(system);
    const mine = await connect(system, app, person, 'u-1');
    const theirs = await connect(system, app, other, 'u-2');
    const done = predictionBody({ connection_id: mine.connection_id });
    const others = predictionBody({ user_id: 'u-2', connection_id: theirs.connection_id });
    const [first, second] = await Promise.all([app.predict(done), app.predict(others)]);
    assert.deepEqual([first.status, second.status], [200, 200], first.text);
    const usage = (await app.usage()).body;

    system.provider.respond(hang());
    const running = predictionBody({ connection_id: mine.connection_id });
    const waiting = app.predict(running);
    await until(() => system.provider.running === 1);
    await eraseAccount(system, person);
    assert.deepEqual((await waiting).code, 'connection_revoked');

    for (const body of [done, running]) {
      const row = await rowOf(system, body);
      assert.deepEqual([row.erased, row.profile_revision], [true, 'none']);
      assert.equal(await storedAnswers(row.id), 0);
    }
    assert.equal((await app.predict(done)).code, 'connection_revoked');
    assert.deepEqual((await app.usage()).body, usage);

    const kept = await rowOf(system, others);
    assert.deepEqual([kept.erased, await storedAnswers(kept.id)], [false, 1]);
    assert.equal((await app.predict(others)).text, second.text);
  });

  it('erasing an account also ends a prediction that another worker takes over during the erasure', async () => {
    const person = await signUp(system);
    const app = await connectingApp(system);
    const { connection_id } = await connect(system, app, person);
    system.provider.respond(hang());
    const waiting = app.predict(predictionBody({ connection_id }));
    await until(() => system.provider.running === 1);
    const usage = await lockRow(system, 'usage', 'app_id = $1', [app.id]);
    const erased = beginErasing(person);
    const { pool } = system.database;
    await untilLocked(system, 'complete_v1');
    await pool.query(
      `update work set state = 'queued', attempt = attempt + 1, worker = null, started_at = null where connection_id = $1`,
      [connection_id],
    );
    await usage.release();
    await erased;
    assert.equal((await waiting).code, 'connection_revoked');
  });

  it('erasing an account erases its predictions on a connection that moved to another account days ago', async () => {
    const [person, next] = await Promise.all([signUp(system), signUp(system)]);
    const app = await connectingApp(system);
    const before = await connect(system, app, person);
    const first = predictionBody({ connection_id: before.connection_id });
    await app.predict(first);
    await connect(system, app, person);
    const second = predictionBody({ connection_id: before.connection_id });
    assert.equal((await app.predict(second)).status, 200);
    const after = await connect(system, app, next);
    assert.equal(after.connection_id, before.connection_id);
    const his = predictionBody({ connection_id: after.connection_id });
    const { text } = await app.predict(his);
    await system.sql('delete from connection_attempts where account_id = $1', [person.id]);

    await eraseAccount(system, person);
    for (const body of [first, second]) {
      const row = await rowOf(system, body);
      assert.deepEqual([row.profile_revision, await storedAnswers(row.id)], ['none', 0]);
      assert.equal((await app.predict(body)).code, 'recovery_window_expired');
    }
    assert.equal((await app.predict(his)).text, text);
  });

  it('erasing an account erases the answers of thousands of predictions through its connection', async () => {
    const person = await signUp(system);
    const app = await connectingApp(system);
    const { connection_id } = await connect(system, app, person);
    const { pool } = system.database;
    await pool.query(
      `with made as (
         insert into history (id, kind, party, key, fingerprint, state, attempt, admission, connection_id, month, admitted_at,
                              ended_at, expires_at, facts, report)
         select gen_random_uuid(), 'predict', $1, gen_random_uuid(), '', 'suggested', 1, gen_random_uuid(), $2, '2026-11',
                now() - n / 3 * interval '1 ms', now(), now() + interval '10 minutes', '{}',
                '{"profileRevision": "p-1", "grantRevision": 1}'
           from generate_series(1, 2600) n
         returning id, expires_at)
       insert into answers (id, answer, expires_at) select id, 'A private answer', expires_at from made`,
      [app.id, connection_id],
    );
    await eraseAccount(system, person);
    const { rows } = await pool.query(
      `select report::json ->> 'profileRevision' as profile, count(*)::int as count from history
        where connection_id = $1 and expires_at <= now() group by 1`,
      [connection_id],
    );
    assert.deepEqual(rows, [{ profile: 'none', count: 2600 }]);
    assert.equal((await pool.query(`select from answers where answer = 'A private answer'`)).rows.length, 0);
  });

  it('erasing an account keeps the answer of a prediction that succeeded only after the connection moved to another account', async () => {
    const [person, next] = await Promise.all([signUp(system), signUp(system)]);
    const app = await connectingApp(system);
    const { connection_id } = await connect(system, app, person);
    const body = predictionBody({ connection_id });
    system.provider.respond(status(400));
    assert.equal((await app.predict(body)).code, 'provider_failed');
    await connect(system, app, next);
    system.provider.respond(ok());
    const { text } = await app.predict(body);

    await eraseAccount(system, person);
    const marks = 'select from erasing_grants where account_id = $1';
    assert.equal((await system.sql(marks, [person.id])).length, 0);
    assert.equal((await app.predict(body)).text, text);
  });

  it('erasing an account keeps the predictions of another account to which its connection moves during the erasure', async () => {
    const [person, next] = await Promise.all([signUp(system), signUp(system)]);
    const app = await connectingApp(system);
    const { connection_id } = await connect(system, app, person);
    const hers = predictionBody({ connection_id });
    assert.equal((await app.predict(hers)).status, 200);
    // Deletes the connection attempt, which would otherwise be deleted after a day.
    await system.sql('delete from connection_attempts where account_id = $1', [person.id]);

    const holder = await system.database.pool.connect();
    await holder.query('begin');
    await holder.query(`select from history where facts::json ->> 'requestId' = $1 for update`, [
      hers.request_id,
    ]);
    const erased = beginErasing(person);
    await until(
      async () => (await app.predict(predictionBody({ connection_id }))).code === 'connection_revoked',
    );
    assert.equal((await connect(system, app, next)).connection_id, connection_id);
    const his = predictionBody({ connection_id });
    const { status, text } = await app.predict(his);
    assert.equal(status, 200);
    assert.equal((await app.predict(hers)).code, 'recovery_window_expired');
    await holder.query('rollback');
    holder.release();
    await erased;
    await until(() => isGone(system, person));
    assert.equal(await storedAnswers((await rowOf(system, hers)).id), 0);
    assert.equal((await app.predict(his)).text, text);
  });

  it('an account that is erased while it posts events and logs in leaves no event, session or refresh token', async () => {
    const person = await signUp(system);
    const { email, password } = person;
    const [erased, posted, logins] = await Promise.all([
      Promise.all(Array.from({ length: 4 }, () => person.request('DELETE', '/api/auth/me/'))),
      Promise.all(Array.from({ length: 8 }, () => post(person, [event(), event()]))),
      Promise.all(
        Array.from({ length: 4 }, () =>
          anonymously<LoginResponse>(system, 'POST', '/api/auth/login/', { email, password }),
        ),
      ),
    ]);
    for (const { status, text } of erased) assert.ok([204, 401].includes(status), text);
    assert.ok(erased.some(({ status }) => status === 204));
    for (const { status, text } of posted) assert.ok([201, 401].includes(status), text);
    for (const { status, text } of logins) assert.ok([200, 401].includes(status), text);
    await until(() => isGone(system, person));
    for (const table of ['recording_events', 'recording_sessions', 'refresh_tokens']) {
      const rows = await system.sql(`select from ${table} where account_id = $1`, [person.id]);
      assert.equal(rows.length, 0, table);
    }
  });
});
