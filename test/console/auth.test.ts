import assert from 'node:assert/strict';
import { createInvite } from '../../shared/db/stores/invites.ts';
import type { LoginResponse } from '../../shared/schemas/accounts.ts';
import { anonymously, signUp, someEmail } from '../support/account.ts';
import { useSystem } from '../support/system.ts';

const PASSWORD = 'a horse with 9 staples';
const IN_COOKIE = { refresh: 'cookie' };
/** Headers by which browsers report a page of another origin. Old ones send only `Origin`. */
const FROM_ELSEWHERE: Record<string, string>[] = [
  { 'sec-fetch-site': 'same-site' },
  { origin: 'http://evil.example' },
  { origin: 'null' },
];

describe('logging in to the console', () => {
  const system = useSystem({ workers: 0, env: { PUBLIC_URL: 'http://localhost:8080/here' } });

  const post = <Body = LoginResponse>(path: string, body: object, headers: Record<string, string> = {}) =>
    anonymously<Body>(system, 'POST', `/console/auth/${path}/`, body, { headers });

  async function signUpInConsole(email = someEmail()) {
    const { status, headers, body } = await post('signup', { email, password: PASSWORD });
    assert.equal(status, 201);
    const [given = ''] = headers.getSetCookie();
    return { email, given, cookie: given.split(';')[0] ?? '', ...body };
  }

  it("signing up in the console puts the refresh token into an HttpOnly cookie, not into the answer's body", async () => {
    const { given, refresh, access, email } = await signUpInConsole();
    assert.match(
      given,
      /^forecue-console=[\w-]{43}; Max-Age=2592000; Path=\/here\/console\/auth; HttpOnly; SameSite=Strict$/,
    );
    assert.equal(refresh, 'cookie');
    const { body } = await anonymously<{ email: string }>(system, 'GET', '/api/auth/me/', undefined, {
      headers: { authorization: `Bearer ${access}` },
    });
    assert.equal(body.email, email);
  });

  it("the console's cookie is Secure and has the __Host- prefix under https", async () => {
    const { url } = await system.startWeb({ PUBLIC_URL: 'https://forecue.example' });
    const { headers } = await anonymously(
      system,
      'POST',
      '/console/auth/signup/',
      { email: someEmail(), password: PASSWORD },
      { at: { url } },
    );
    assert.match(headers.getSetCookie()[0] ?? '', /^__Host-forecue-console=.*; Path=\/; .*; Secure$/);
  });

  it("the console's cookie renews access tokens until the person logs out", async () => {
    const { email, cookie } = await signUpInConsole();
    const again = await post('login', { email, password: PASSWORD });
    assert.equal(again.status, 200);
    const renewed = await post('token/refresh', IN_COOKIE, { cookie: `other=1; ${cookie}` });
    assert.equal(renewed.status, 200);
    const authorization = `Bearer ${renewed.body.access}`;
    const left = await post('logout', IN_COOKIE, { cookie, authorization });
    assert.equal(left.status, 200);
    assert.match(left.headers.getSetCookie()[0] ?? '', /^forecue-console=; Max-Age=0; /);
    const { status, code } = await post('token/refresh', IN_COOKIE, { cookie });
    assert.deepEqual([status, code], [401, 'not_authenticated']);
    // The log-in of the other browser still works, until the same browser logs in again.
    const other = again.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    assert.equal((await post('token/refresh', IN_COOKIE, { cookie: other })).status, 200);
    const somebody = { email: (await signUpInConsole()).email, password: PASSWORD };
    assert.equal((await post('login', somebody, { cookie: other })).status, 200);
    assert.equal((await post('token/refresh', IN_COOKIE, { cookie: other })).status, 401);
  });

  it('the console takes a refresh token only from its cookie, which /api ignores', async () => {
    const { refresh, access } = await signUp(system);
    assert.equal((await post('token/refresh', { refresh })).status, 401);
    const { cookie } = await signUpInConsole();
    const { status } = await anonymously(system, 'POST', '/api/auth/token/refresh/', IN_COOKIE, {
      headers: { cookie },
    });
    assert.equal(status, 401);
    const me = await anonymously(system, 'GET', '/api/auth/me/', undefined, { headers: { cookie } });
    assert.equal(me.status, 401);
    // A log-out with one person's access token does not end the log-in of another person's cookie.
    assert.equal(
      (await post('logout', IN_COOKIE, { cookie, authorization: `Bearer ${access}` })).status,
      200,
    );
    assert.equal((await post('token/refresh', IN_COOKIE, { cookie })).status, 200);
  });

  it("the console's log-in endpoints answer 403 to pages of other origins, by Sec-Fetch-Site or Origin", async () => {
    const { cookie, access, email } = await signUpInConsole();
    const calls: [string, object][] = [
      ['signup', { email: someEmail(), password: PASSWORD }],
      ['login', { email, password: PASSWORD }],
      ['token/refresh', IN_COOKIE],
      ['logout', IN_COOKIE],
    ];
    for (const [path, body] of calls)
      for (const from of FROM_ELSEWHERE) {
        const headers = { cookie, authorization: `Bearer ${access}`, ...from };
        const refused = await post(path, body, headers);
        assert.deepEqual([refused.status, refused.code], [403, 'access_denied'], path);
        assert.deepEqual(refused.headers.getSetCookie(), []);
      }
    // The page's own origin is that of PUBLIC_URL, or the one that the browser called.
    for (const origin of ['http://localhost:8080', system.webs[0]?.url ?? ''])
      assert.equal((await post('token/refresh', IN_COOKIE, { cookie, origin })).status, 200);
  });

  it('the console answers 401 to a wrong password, 409 to a taken e-mail address and 422 to a misnamed field', async () => {
    const { email } = await signUpInConsole();
    const wrong = await post('login', { email, password: 'not the password' });
    assert.deepEqual([wrong.status, wrong.code], [401, 'invalid_credentials']);
    assert.deepEqual(wrong.headers.getSetCookie(), []);
    const taken = await post('signup', { email, password: PASSWORD });
    assert.deepEqual([taken.status, taken.code], [409, 'email_taken']);
    const misnamed = await post('login', { email, passwort: 'a secret of theirs' });
    assert.equal(misnamed.status, 422);
    assert.ok(!misnamed.text.includes('a secret of theirs'));
  });

  it("the console's sign-up requires an invitation if INVITE_ONLY is set", async () => {
    const { url } = await system.startWeb({ INVITE_ONLY: 'true' });
    const sign = (more: object) =>
      anonymously(
        system,
        'POST',
        '/console/auth/signup/',
        { email: someEmail(), password: PASSWORD, ...more },
        { at: { url } },
      );
    const { status, code } = await sign({});
    assert.deepEqual([status, code], [403, 'invite_required']);
    assert.equal((await sign({ invite_code: await createInvite(system.em()) })).status, 201);
  });

  it("with CONSOLE=off, the console's page and log-in are 404, and the OpenAPI document does not list them", async () => {
    const { url } = await system.startWeb({ CONSOLE: 'off' });
    for (const path of ['', 'app.js', 'auth/login/', 'auth/token/refresh/'])
      assert.equal(
        (await fetch(`${url}/console/${path}`, { method: path.includes('auth') ? 'POST' : 'GET' })).status,
        404,
      );
    const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: object };
    assert.ok(!Object.keys(paths).some((path) => path.startsWith('/console')));
  });
});
