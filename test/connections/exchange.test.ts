import assert from 'node:assert/strict';
import { signUp, type UserClient } from '../support/account.ts';
import type { AppClient, Reply } from '../support/client.ts';
import {
  type Attempt,
  approve,
  connect,
  connectingApp,
  deny,
  type ExchangeResponse,
  exchange,
  REDIRECT_URI,
  revoke,
  startBody,
  startConnection,
} from '../support/connection.ts';
import { useSystem } from '../support/system.ts';

describe('connecting a user', () => {
  const system = useSystem({ webs: 3, workers: 0 });
  let app: AppClient;
  let person: UserClient;
  before(async () => {
    app = await connectingApp(system);
    person = await signUp(system);
  });

  describe('starting a connection', () => {
    it('starting a connection returns the address of a consent page and the time at which the attempt expires', async () => {
      const begin = Math.floor(Date.now() / 1000);
      const { request_id, expires_at, authorize_url } = await startConnection(app);
      assert.match(request_id, /^[A-Za-z0-9._:-]{1,80}$/);
      assert.match(authorize_url, new RegExp(`^http://localhost:\\d+/connect/${request_id}$`));
      assert.ok(expires_at >= begin + 600 && expires_at <= begin + 605, String(expires_at - begin));
    });

    it('starting a connection accepts only redirect URIs that the app has registered, character for character', async () => {
      const others = [
        'https://app.example/callback',
        `${REDIRECT_URI}&x=1`,
        REDIRECT_URI.replace('https', 'HTTPS'),
        `${REDIRECT_URI}/`,
        REDIRECT_URI.replace('app.', 'app%2E'),
        'https://evil.example/',
      ];
      for (const redirect_uri of others) {
        const reply = await app.post('/v1/connections', { ...startBody().body, redirect_uri });
        assert.deepEqual([reply.status, reply.code], [400, 'invalid_redirect_uri'], redirect_uri);
      }
    });

    it("a native app's loopback redirect URI is accepted with any port that an address can have (RFC 8252, 7.3)", async () => {
      const redirectUris = ['http://127.0.0.1:3000/cb', 'https://app.example/cb'];
      const start = async (native: boolean, redirect_uri: string) => {
        const app = await system.app({ redirectUris, native });
        return (await app.post('/v1/connections', { ...startBody().body, redirect_uri })).status;
      };
      for (const port of [1, 3000, 9999, 10_000, 49_152, 65_535])
        assert.equal(await start(true, `http://127.0.0.1:${port}/cb`), 200, `${port}`);
      assert.equal(await start(false, 'http://127.0.0.1:3001/cb'), 400);
      for (const other of [
        'http://127.0.0.1:65536/cb',
        'http://127.0.0.1:99999/cb',
        'http://127.0.0.1:3000@evil.example/cb',
        'http://127.0.0.1:3000.evil.example/cb',
        'http://localhost:3000/cb',
        'https://app.example:3000/cb',
      ])
        assert.equal(await start(true, other), 400, other);
    });

    it('starting a connection and exchanging a code are 404 feature_disabled if connections are turned off for the app', async () => {
      const off = await connectingApp(system);
      await system.sql(`update apps set disabled = '{connections}' where id = $1`, [off.id]);
      const attempt = await startConnection(app);
      for (const reply of [
        await off.post('/v1/connections', startBody().body),
        await exchange(off, attempt, 'c'.repeat(43)),
      ])
        assert.deepEqual([reply.status, reply.code], [404, 'feature_disabled']);
    });
  });

  describe('exchanging a code', () => {
    it('an exchange makes the connection, and repeating the exchange returns the same bytes', async () => {
      const attempt = await startConnection(app, 'first');
      const code = await approve(system, attempt, person);
      assert.match(code, /^[A-Za-z0-9_-]{43}$/);
      const reply = await exchange(app, attempt, code);
      assert.equal(reply.status, 200, reply.text);
      assert.deepEqual(Object.keys(reply.body), [
        'connection_id',
        'profile_revision',
        'grant_revision',
        'status',
      ]);
      assert.equal(reply.body.grant_revision, 1);
      assert.equal(reply.body.status, 'connected');
      for (let n = 0; n < 3; n++) assert.equal((await exchange(app, attempt, code)).text, reply.text);
    });

    it('250 concurrent exchanges of one code, retried after a 503, make one grant and get the same answer', async () => {
      const attempt = await startConnection(app, 'crowd');
      const code = await approve(system, attempt, person);
      // An exchange that waited too long for the others is retried.
      const ask = async (n: number): Promise<Reply<ExchangeResponse>> => {
        const reply = await exchange(app, attempt, code, {}, system.webs[n % 3]);
        return reply.status === 503 ? ask(n) : reply;
      };
      const replies = await Promise.all(Array.from({ length: 250 }, (_, n) => ask(n)));
      const texts = Map.groupBy(replies, ({ status, text }) => `${status} ${text}`);
      assert.deepEqual([...texts.keys()], [`200 ${replies[0]?.text}`]);
      assert.equal(replies[0]?.body.grant_revision, 1);
      const rows = await system.sql(
        `select grant_revision from connections where app_id = $1 and user_id = 'crowd'`,
        [app.id],
      );
      assert.deepEqual(rows, [{ grant_revision: 1 }]);
    });

    it('reconnecting a user keeps the connection id and increments the grant revision', async () => {
      const first = await connect(system, app, person, 'again');
      const second = await connect(system, app, await signUp(system), 'again');
      assert.deepEqual([second.connection_id, second.grant_revision], [first.connection_id, 2]);
      assert.notEqual(second.profile_revision, first.profile_revision);
      await revoke(app, first.connection_id, 'again');
      assert.equal((await connect(system, app, person, 'again')).grant_revision, 3);
    });

    it('concurrent exchanges of two attempts of one user make one connection with two grants', async () => {
      const attempts = await Promise.all([startConnection(app, 'twice'), startConnection(app, 'twice')]);
      const exchanged = await Promise.all(
        attempts.map(async (attempt) => exchange(app, attempt, await approve(system, attempt, person))),
      );
      assert.equal(new Set(exchanged.map(({ body }) => body.connection_id)).size, 1);
      assert.deepEqual(exchanged.map(({ body }) => body.grant_revision).sort(), [1, 2]);
    });
  });

  describe('refused exchanges', () => {
    let attempt: Attempt;
    let code: string;
    beforeEach(async () => {
      attempt = await startConnection(app, `refused-${Math.random()}`);
      code = await approve(system, attempt, person);
    });
    const refusalOf = async (part: object, of: AppClient = app) => {
      const { status, code: error } = await exchange(of, attempt, code, part);
      return [status, error];
    };
    const connections = async () => {
      const { rowCount } = await system.database.pool.query('select from connections where user_id = $1', [
        attempt.userId,
      ]);
      return rowCount;
    };
    const alter = (assignments: string) =>
      system.sql(`update connection_attempts set ${assignments} where id = $1`, [attempt.request_id]);

    it('an exchange of a code is refused if the connection attempt is unknown or was started by another app', async () => {
      const other = await connectingApp(system);
      assert.deepEqual(await refusalOf({}, other), [404, 'not_found']);
      for (const request_id of ['c-unknown', '00000000-0000-7000-8000-000000000000'])
        assert.deepEqual(await refusalOf({ request_id }), [404, 'not_found']);
      assert.equal(await connections(), 0);
    });

    it('an exchange with a wrong verifier, user, redirect URI or code is 400 invalid_grant and makes no connection', async () => {
      const another = await startConnection(app, attempt.userId);
      const anothersCode = await approve(system, another, person);
      const wrong = [
        { code_verifier: another.verifier },
        { user_id: 'somebody else' },
        { redirect_uri: 'https://app.example/callback' },
        { code: anothersCode },
      ];
      for (const part of wrong)
        assert.deepEqual(await refusalOf(part), [400, 'invalid_grant'], JSON.stringify(part));
      assert.equal(await connections(), 0);
      // Four wrong exchanges do not lock the attempt.
      assert.equal((await exchange(app, attempt, code)).status, 200);
    });

    it('an exchange is refused if its attempt was started with the PKCE verifier itself as the challenge', async () => {
      const { body, verifier } = startBody(attempt.userId);
      const plain = { ...body, code_challenge: verifier };
      const started = await app.post<Attempt>('/v1/connections', plain);
      const downgraded = { ...started.body, userId: attempt.userId, verifier };
      const reply = await exchange(app, downgraded, await approve(system, downgraded, person));
      assert.deepEqual([reply.status, reply.code], [400, 'invalid_grant']);
    });

    it('after five wrong exchanges, a connection attempt refuses even a correct exchange', async () => {
      for (let n = 0; n < 5; n++)
        assert.deepEqual(await refusalOf({ code: 'x'.repeat(43) }), [400, 'invalid_grant']);
      assert.deepEqual(await refusalOf({}), [400, 'invalid_grant']);
      assert.equal(await connections(), 0);
    });

    it('after twenty concurrent exchanges with a wrong code, a connection attempt refuses even a correct exchange', async () => {
      await Promise.all(Array.from({ length: 20 }, () => refusalOf({ code: 'x'.repeat(43) })));
      assert.deepEqual(await refusalOf({}), [400, 'invalid_grant']);
    });

    it('an exchange is refused while the attempt is undecided, and after it was denied', async () => {
      attempt = await startConnection(app, attempt.userId);
      assert.deepEqual(await refusalOf({}), [400, 'authorization_pending']);
      await deny(system, attempt);
      assert.deepEqual(await refusalOf({}), [403, 'access_denied']);
    });

    it('a first exchange is 410 connection_attempt_expired once the code or the undecided attempt has expired', async () => {
      await alter(`code_expires_at = now()`);
      assert.deepEqual(await refusalOf({}), [410, 'connection_attempt_expired']);
      attempt = await startConnection(app, attempt.userId);
      await alter(`expires_at = now()`);
      assert.deepEqual(await refusalOf({}), [410, 'connection_attempt_expired']);
      await assert.rejects(approve(system, attempt, person));
      assert.equal(await connections(), 0);
    });

    it('an exchange can be repeated until both the code and the attempt have expired', async () => {
      assert.equal((await exchange(app, attempt, code)).status, 200);
      await alter(`code_expires_at = now()`);
      assert.equal((await exchange(app, attempt, code)).status, 200);
      await alter(`expires_at = now()`);
      assert.deepEqual(await refusalOf({}), [410, 'connection_attempt_expired']);
    });

    it('an exchange cannot be repeated after its grant was revoked or replaced', async () => {
      const { body } = await exchange(app, attempt, code);
      await revoke(app, body.connection_id, attempt.userId);
      assert.deepEqual(await refusalOf({}), [403, 'connection_revoked']);
      await connect(system, app, person, attempt.userId);
      assert.deepEqual(await refusalOf({}), [403, 'connection_revoked']);
    });

    it('an exchange is 404 if the account that approved the attempt was erased', async () => {
      const gone = await signUp(system);
      attempt = await startConnection(app, attempt.userId);
      code = await approve(system, attempt, gone);
      await system.sql('delete from accounts where id = $1', [gone.id]);
      assert.deepEqual(await refusalOf({}), [404, 'not_found']);
    });
  });

  it("neither the code nor the verifier of an exchange appears in an error or in the ingress's log", async () => {
    const attempt = await startConnection(app, 'quiet');
    const code = await approve(system, attempt, person);
    const reply = await exchange(app, attempt, code, { code_verifier: 'a secret with spaces in it' });
    assert.equal(reply.status, 422);
    await exchange(app, attempt, code);
    for (const text of [reply.text, system.webs[0]?.log ?? ''])
      for (const secret of [code, attempt.verifier, 'a secret with spaces'])
        assert.ok(!text.includes(secret));
  });
});
