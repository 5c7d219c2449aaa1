import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Account } from '../../shared/db/entities/account.ts';
import { beginLogIn } from '../../shared/db/stores/own-log-ins.ts';
import { anonymously, signUp, someEmail } from '../support/account.ts';
import { predictionBody } from '../support/client.ts';
import {
  approve,
  connect,
  connectingApp,
  exchange,
  REDIRECT_URI,
  startBody,
  startConnection,
} from '../support/connection.ts';
import { tally } from '../support/flood.ts';
import { rowOf } from '../support/rows.ts';
import { useSystem } from '../support/system.ts';

describe('bounds', () => {
  const system = useSystem();

  it('an account has at most 100 log-ins, and a further log-in ends the oldest', async () => {
    const user = await signUp(system);
    const account = await system.em().findOneOrFail(Account, { id: user.id });
    const tokens = [user.refresh];
    while (tokens.length < 103) {
      // Gives each log-in a time of its own, which is stored in whole milliseconds.
      await sleep(2);
      tokens.push((await beginLogIn(system.em(), account, { client: null, system: null }))?.token ?? '');
    }
    const rows = await system.sql('select from refresh_tokens where account_id = $1', [user.id]);
    assert.equal(rows.length, 100);
    const statusOf = async (refresh = '') =>
      (await anonymously(system, 'POST', '/api/auth/token/refresh/', { refresh })).status;
    assert.deepEqual(await Promise.all([0, 2, 3, 102].map((n) => statusOf(tokens[n]))), [401, 401, 200, 200]);
  });

  it('an app has at most 10,000 undecided connection attempts, and gets 429 until one expires', async () => {
    const [app, other] = await Promise.all([connectingApp(system), connectingApp(system)]);
    await system.sql(
      `insert into connection_attempts
              (id, app_id, user_id, redirect_uri, state, code_challenge, created_at, expires_at)
       select gen_random_uuid(), $1, n, $2, 's', repeat('c', 43), now(), now() + make_interval(secs => 300 + n)
         from generate_series(1, 10000) n`,
      [app.id, REDIRECT_URI],
    );
    const start = (one = app) => one.request('POST', '/v1/connections', startBody().body);
    const refused = await start();
    assert.deepEqual([refused.status, refused.code], [429, 'rate_limited']);
    const retryAfter = Number(refused.headers.get('retry-after'));
    assert.ok(retryAfter > 200 && retryAfter <= 301, `${retryAfter}`);
    const elsewhere = { ...startBody().body, redirect_uri: 'https://elsewhere.example/' };
    assert.equal((await app.request('POST', '/v1/connections', elsewhere)).code, 'invalid_redirect_uri');
    assert.equal((await start(other)).status, 200);
    await system.sql(
      `update connection_attempts set expires_at = now() where app_id = $1 and user_id = '1'`,
      [app.id],
    );
    assert.deepEqual([(await start()).status, (await start()).status], [200, 429]);
  });

  it('an account has at most 1,000 connections, and at that limit can still renew them', async () => {
    const user = await signUp(system);
    const app = await connectingApp(system);
    const { connection_id } = await connect(system, app, user, 'u-0');
    await system.sql(
      `insert into connections (id, app_id, user_id, account_id, status, grant_revision, created_at, granted_at)
       select gen_random_uuid(), $1, 'u-' || n, $2, 'revoked', 1, now(), now() from generate_series(1, 999) n`,
      [app.id, user.id],
    );
    const attempt = await startConnection(app, 'one-more');
    const refused = await exchange(app, attempt, await approve(system, attempt, user));
    assert.deepEqual([refused.status, refused.code], [403, 'access_denied']);
    assert.equal((await connect(system, app, user, 'u-0')).connection_id, connection_id);
    await connect(system, app, user, 'u-7');
    const { body } = await user.request<{ results: object[] }>('GET', '/api/connections/');
    assert.equal(body.results.length, 1000);
  });

  it('a prediction has at most 100 prediction events, and at that limit a repeated event still gets 200', async () => {
    const app = await system.app();
    const [request, other] = [predictionBody(), predictionBody()];
    for (const one of [request, other]) assert.equal((await app.predict(one)).status, 200);
    const record = (event_id: string, { request_id, user_id } = request) =>
      app.request('POST', '/v1/prediction-events', { event_id, request_id, user_id, kind: 'presented' });
    const { id } = await rowOf(system, request);
    await system.sql(
      `insert into prediction_events (app_id, event_id, prediction_id, request_id, user_id, kind, recorded_at)
       select $1, 'e-' || n, $2, $3, 'u-1', 'presented', now() - interval '34 days' from generate_series(1, 99) n`,
      [app.id, id, request.request_id],
    );
    assert.deepEqual([(await record('e-1')).status, (await record('e-100')).status], [200, 200]);
    const refused = await record('e-101');
    assert.deepEqual([refused.status, refused.code], [429, 'rate_limited']);
    const days = Number(refused.headers.get('retry-after')) / 86_400;
    assert.ok(days > 0.9 && days <= 1, `${days}`);
    assert.deepEqual([(await record('e-100')).status, (await record('e-101', other)).status], [200, 200]);
  });

  it('the waitlist is 503 overloaded when it is full, and takes at most 100 requests an hour from one network', async () => {
    const join = () => anonymously(system, 'POST', '/api/auth/waitlist/', { email: someEmail() });
    const setWaitlistEstimate = (rows: number) =>
      system.database.pool.query(`update pg_class set reltuples = $1 where oid = 'waitlist'::regclass`, [
        rows,
      ]);
    await setWaitlistEstimate(1_000_000);
    const refused = await join();
    assert.deepEqual([refused.status, refused.code], [503, 'overloaded']);
    await setWaitlistEstimate(0);
    const replies = await Promise.all(Array.from({ length: 104 }, join));
    assert.deepEqual(tally(replies), { 200: 99, '429 rate_limited': 5 });
    const retryAfter = Number(replies.find(({ status }) => status === 429)?.headers.get('retry-after'));
    assert.ok(retryAfter > 3000 && retryAfter <= 3600, `${retryAfter}`);
  });
});
