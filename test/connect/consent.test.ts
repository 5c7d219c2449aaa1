import assert from 'node:assert/strict';
import { signUp as signUpByApi, someEmail } from '../support/account.ts';
import { call } from '../support/client.ts';
import { pluck } from '../support/pluck.ts';
import { type Part, useSystem } from '../support/system.ts';
import { type Attempt, ConnectingApp } from './connecting-app.ts';
import { type ReceivedPage, Visitor } from './visitor.ts';

const PASSWORD = 'a horse with 9 staples';

const system = useSystem({ workers: 0, env: { CONNECTION_ATTEMPT_TTL_S: '600' } });
let app: ConnectingApp;

before(async () => {
  app = await ConnectingApp.register(system);
});

after(() => app?.[Symbol.asyncDispose]());

/** Signs a new visitor up during this attempt. Returns the visitor and the account's e-mail address. */
async function signUpVisitor({ url }: Attempt): Promise<{ visitor: Visitor; email: string }> {
  const visitor = new Visitor();
  const email = someEmail();
  const { status } = await visitor.submit(url, { do: 'sign-up', email, password: PASSWORD });
  assert.equal(status, 303);
  return { visitor, email };
}

async function decide({ url }: Attempt, visitor: Visitor, decision: 'approve' | 'deny'): Promise<URL> {
  const { status, location } = await visitor.submit(url, { do: decision });
  assert.equal(status, 303);
  return new URL(location ?? '');
}

function assertPage({ status, headers, text }: ReceivedPage, expected: number, says: RegExp): void {
  assert.equal(status, expected);
  assert.match(headers.get('content-type') ?? '', /^text\/html; charset=utf-8$/);
  assert.match(text, says);
}

async function expire({ requestId }: Attempt): Promise<void> {
  await system.sql('update connection_attempts set expires_at = now() where id = $1', [requestId]);
}

describe('consent page', () => {
  it('the consent page asks for a sign-in, shows the app and the account, and lets the person approve', async () => {
    const attempt = await app.start('approves');
    const visitor = new Visitor();
    const first = await visitor.get(attempt.url);
    assertPage(first, 200, /Sign in to continue/);
    assert.match(first.text, /<bdi>Quill Notes<\/bdi>/);
    const email = someEmail();
    const signedUp = await visitor.submit(`${attempt.url}?view=sign-up`, {
      do: 'sign-up',
      email,
      password: PASSWORD,
    });
    assert.deepEqual([signedUp.status, signedUp.location], [303, attempt.requestId]);
    const consent = await visitor.get(attempt.url);
    assertPage(consent, 200, /Allow <strong><bdi>Quill Notes<\/bdi><\/strong> to use your memory\?/);
    assert.ok(consent.text.includes(email));
    assert.match(consent.text, /names are words, too/);
    for (const [field, value] of Object.entries({ memory: 'none', projects: 'engine, /home/ada' })) {
      const refused = await visitor.submit(attempt.url, { do: 'approve', [field]: value });
      assert.equal(refused.location, attempt.requestId);
    }
    const narrowed = { memory: 'facts', projects: '/home/ada/Engine, shop,', days: '7' };
    const { location } = await visitor.submit(attempt.url, { do: 'approve', ...narrowed });
    const code = app.check(new URL(location ?? ''), attempt).get('code');
    assert.match(code ?? '', /^[A-Za-z0-9_-]{43}$/);
    const { status, body } = await app.exchange(attempt, code);
    assert.equal(status, 200);
    assert.deepEqual([body.status, body.grant_revision], ['connected', 1]);
    const kept = await system.sql(
      `select memory, projects, extract(day from ends_at - granted_at)::int + 1 as days from connections where id = $1`,
      [body.connection_id],
    );
    assert.deepEqual(kept, [{ memory: 'facts', projects: ['engine', 'shop'], days: 7 }]);
  });

  it('the consent page redirects to the app with access_denied, state and iss when the person denies', async () => {
    const attempt = await app.start('denies');
    const { visitor } = await signUpVisitor(attempt);
    const back = await decide(attempt, visitor, 'deny');
    assert.throws(
      () => app.check(back, attempt),
      (error: { error?: string }) => error.error === 'access_denied',
    );
    assert.deepEqual([...back.searchParams.keys()], ['error', 'state', 'iss']);
    assert.equal((await app.exchange(attempt, 'x'.repeat(43))).code, 'access_denied');
  });

  it('the consent page lets a person deny without signing in', async () => {
    const attempt = await app.start();
    const back = await decide(attempt, new Visitor(), 'deny');
    assert.equal(back.searchParams.get('error'), 'access_denied');
  });

  it("the consent page keeps the redirect URI's query byte for byte", async () => {
    const queries = ['?tenant=a%20b&next=%2Fx%2f&empty=', '?', '?a&', "?it's=~!*()"];
    for (const query of queries) {
      await using odd = await ConnectingApp.register(system, { path: `/callback${query}` });
      const attempt = await odd.start();
      const { visitor } = await signUpVisitor(attempt);
      const { location } = await visitor.submit(attempt.url, { do: 'approve' });
      assert.ok(location?.startsWith(odd.redirectUri), String(location));
      const code = odd.check(new URL(String(location)), attempt).get('code');
      assert.equal((await odd.exchange(attempt, code)).status, 200);
    }
  });

  it('the consent page is a 404 page for any unknown or malformed attempt id', async () => {
    const { url } = await app.start();
    for (const id of ['018f0000-0000-7000-8000-000000000000', 'nonsense', '%00', '%', 'a/b', ''])
      assertPage(await new Visitor().get(url.replace(/[^/]*$/, id)), 404, /There is no such request/);
    assertPage(await new Visitor().get(url.replace(/\/[^/]*$/, '')), 404, /There is no such request/);
    assertPage(await new Visitor().get(`${url}/`), 404, /There is no such request/);
  });

  it('once the connection attempt has expired, the consent page and each of its buttons are 410 and never redirect', async () => {
    const attempt = await app.start();
    const { visitor } = await signUpVisitor(attempt);
    const { csrf } = await visitor.get(attempt.url);
    await expire(attempt);
    assertPage(await visitor.get(attempt.url), 410, /This request has expired/);
    for (const button of ['approve', 'deny', 'switch', 'sign-in', 'sign-up']) {
      const seen = await visitor.post(attempt.url, { csrf, do: button });
      assertPage(seen, 410, /This request has expired/);
      assert.equal(seen.location, null);
    }
  });

  it('the consent page approves a connection attempt only once; further clicks get a 410 page', async () => {
    const attempt = await app.start('clicks twice');
    const { visitor } = await signUpVisitor(attempt);
    const { csrf } = await visitor.get(attempt.url);
    const clicks = await Promise.all([1, 2, 3].map(() => visitor.post(attempt.url, { csrf, do: 'approve' })));
    assert.deepEqual(pluck(clicks, 'status').sort(), [303, 410, 410]);
    const late = await visitor.post(attempt.url, { csrf, do: 'deny' });
    assertPage(late, 410, /already answered/);
    assertPage(await visitor.get(attempt.url), 410, /second click/);
    const [approved] = clicks.filter(({ status }) => status === 303);
    const code = app.check(new URL(approved?.location ?? ''), attempt).get('code');
    assert.equal((await app.exchange(attempt, code)).status, 200);
  });

  it('the consent page escapes app names and e-mail addresses', async () => {
    const name = `"><script>alert(1)</script>&amp;'\u202Egnp.exe`;
    await using odd = await ConnectingApp.register(system, { name });
    const attempt = await odd.start();
    const visitor = new Visitor();
    const email = `"><img/src=x>@example.com`;
    const seen = await visitor.submit(attempt.url, { do: 'sign-in', email, password: 'x' });
    assert.ok(
      seen.text.includes('&#34;&#62;&#60;script&#62;alert(1)&#60;/script&#62;&#38;amp;&#39;\u202Egnp.exe'),
    );
    assert.ok(seen.text.includes('value="&#34;&#62;&#60;img/src=x&#62;@example.com"'));
    assert.doesNotMatch(seen.text, /<script|<img/);
  });

  it('the consent page answers HEAD like GET, and methods other than GET, HEAD and POST with a 405 page', async () => {
    const { url } = await app.start();
    const head = await new Visitor().request(url, { method: 'HEAD' });
    assert.deepEqual([head.status, head.text], [200, '']);
    for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const seen = await new Visitor().request(url, { method });
      assertPage(seen, 405, /forms of its own page only/);
      assert.equal(seen.headers.get('allow'), 'GET, HEAD, POST');
    }
  });

  it('the consent page logs neither request paths nor what people type', async () => {
    const attempt = await app.start();
    const { visitor, email } = await signUpVisitor(attempt);
    await visitor.submit(attempt.url, { do: 'approve' });
    const log = system.webs[0]?.log ?? '';
    assert.match(log, /"route":"\/connect\/:request_id","status":303/);
    for (const text of [email, PASSWORD, attempt.requestId, attempt.state, visitor.cookie ?? ''])
      assert.ok(!log.includes(text), text);
  });
});

describe('signing in on the consent page', () => {
  it('the consent page lets an account of the API sign in, and keeps the e-mail address after a wrong password', async () => {
    const person = await signUpByApi(system);
    const attempt = await app.start();
    const visitor = new Visitor();
    const wrong = await visitor.submit(attempt.url, { do: 'sign-in', email: person.email, password: 'no' });
    assertPage(wrong, 422, /role="alert" id="form-fault">Wrong e-mail address or password/);
    assert.match(wrong.text, new RegExp(`value="${person.email}" aria-describedby="form-fault" autofocus`));
    assert.equal(wrong.headers.get('location'), null);
    const right = await visitor.submit(attempt.url, {
      do: 'sign-in',
      email: ` ${person.email.toUpperCase()}`,
      password: person.password,
    });
    assert.equal(right.status, 303);
    assert.ok((await visitor.get(attempt.url)).text.includes(person.email));
  });

  it('the consent page reports at each field what is wrong with a new account', async () => {
    const taken = (await signUpByApi(system)).email;
    const cases: [Record<string, string>, RegExp][] = [
      [{ email: 'nobody', password: PASSWORD }, /id="email-fault">Enter an e-mail address/],
      [{ email: someEmail(), password: 'short' }, /id="password-fault">Use at least 10 characters/],
      [{ email: someEmail(), password: 'x'.repeat(201) }, /id="password-fault">Use at most 200 characters/],
      [
        { email: someEmail(), password: 'aaaaaaaaaaaa' },
        /id="password-fault">This password is too common or easy to guess/,
      ],
      [{ email: someEmail(), password: `${PASSWORD}\0` }, /id="password-fault">/],
      [{ email: taken, password: PASSWORD }, /id="email-fault">There is an account with this address/],
      [{}, /id="email-fault">[\s\S]*id="password-fault">/],
    ];
    const { url } = await app.start();
    for (const [fields, says] of cases) {
      const seen = await new Visitor().submit(url, { do: 'sign-up', ...fields });
      assertPage(seen, 422, says);
      assert.match(seen.text, /aria-invalid="true"/);
      assert.ok(!seen.text.includes(PASSWORD));
    }
  });

  it('the consent page asks for an invite code if signing up requires one', async () => {
    const invited = await system.startWeb({ INVITE_ONLY: 'true' });
    const { requestId } = await app.start();
    const url = `${invited.url}/connect/${requestId}?view=sign-up`;
    const visitor = new Visitor();
    assert.match((await visitor.get(url)).text, /<label for="invite_code">/);
    const fields = { do: 'sign-up', email: someEmail(), password: PASSWORD };
    for (const invite_code of ['', 'wrong'])
      assertPage(await visitor.submit(url, { ...fields, invite_code }), 422, /id="invite_code-fault">/);
    assertPage(await visitor.submit(url, fields), 422, /id="invite_code-fault">/);
    assert.doesNotMatch(
      (await visitor.get(url.replace(invited.url, system.webs[0]?.url ?? ''))).text,
      /invite/i,
    );
  });

  it('switching accounts on the consent page ends the session, even for a copy of the old cookie', async () => {
    const attempt = await app.start();
    const { visitor, email } = await signUpVisitor(attempt);
    const before = visitor.cookie;
    assert.equal((await visitor.submit(attempt.url, { do: 'switch' })).location, attempt.requestId);
    assertPage(await visitor.get(attempt.url), 200, /Sign in to continue/);
    const old = new Visitor();
    old.cookie = before;
    const seen = await old.get(attempt.url);
    assert.ok(!seen.text.includes(email));
  });

  it('a sign-in on the consent page ends at once when its account is disabled or erased, or the session expires', async () => {
    const endings = [
      'update accounts set active = false where email = $1',
      'delete from accounts where email = $1',
      'update web_sessions set expires_at = now() where account_id = (select id from accounts where email = $1)',
    ];
    for (const ending of endings) {
      const attempt = await app.start();
      const { visitor, email } = await signUpVisitor(attempt);
      const { csrf } = await visitor.get(attempt.url);
      await system.sql(ending, [email]);
      const approved = await visitor.post(attempt.url, { csrf, do: 'approve' });
      assert.deepEqual([approved.status, approved.location], [303, attempt.requestId]);
      assertPage(await visitor.get(attempt.url), 200, /Sign in to continue/);
    }
  });

  it('a sign-in on the consent page ends when the password is changed', async () => {
    const person = await signUpByApi(system);
    const { url } = await app.start();
    const visitor = new Visitor();
    const { email, password } = person;
    assert.equal((await visitor.submit(url, { do: 'sign-in', email, password })).status, 303);
    const change = { password: `${password} and more`, current_password: password };
    assert.equal((await person.request('PATCH', '/api/auth/me/', change)).status, 200);
    assertPage(await visitor.get(url), 200, /Sign in to continue/);
  });

  it('the consent page is 429 after too many wrong passwords, and says so at its form', async () => {
    const { email } = await signUpByApi(system);
    const { url } = await app.start();
    const visitor = new Visitor();
    let seen = await visitor.get(url);
    for (let tries = 0; seen.status !== 429 && tries < 50; tries += 1)
      seen = await visitor.submit(url, { do: 'sign-in', email, password: 'wrong' });
    assertPage(seen, 429, /role="alert"[^>]*>Too many tries/);
    assert.match(seen.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    assert.ok(seen.text.includes(email));
  });
});

describe('forged requests', () => {
  it('the consent page answers 403 to a form whose CSRF token is missing, wrong, or from another browser or attempt', async () => {
    const attempt = await app.start();
    const { visitor } = await signUpVisitor(attempt);
    const { csrf: others } = await new Visitor().get(attempt.url);
    const { csrf: elsewhere } = await visitor.get((await app.start()).url);
    const tokens = ['', 'x', 'x'.repeat(43), 'é'.repeat(43), others, elsewhere];
    for (const csrf of tokens) {
      for (const button of ['approve', 'deny', 'switch', 'sign-in', 'sign-up']) {
        const seen = await visitor.post(attempt.url, { csrf, do: button });
        assertPage(seen, 403, /This page is out of date/);
      }
    }
    await decide(attempt, visitor, 'approve');
  });

  it('the consent page accepts a form from another ingress while the signing secret is being rotated', async () => {
    const [old, next] = [`default:${'o'.repeat(32)}`, `b:${'n'.repeat(32)}`];
    const before = await system.startWeb({ JWT_SECRET: `${old},${next}` });
    const after = await system.startWeb({ JWT_SECRET: `${next},${old}` });
    for (const [asked, sent] of [
      [before, after],
      [after, before],
    ] as const) {
      const path = `/connect/${(await app.start()).requestId}`;
      const visitor = new Visitor();
      const { csrf } = await visitor.get(asked.url + path);
      assert.equal((await visitor.post(sent.url + path, { csrf, do: 'deny' })).status, 303);
    }
  });

  it('the consent page answers 403 to a form without its cookie, or with a different cookie', async () => {
    const attempt = await app.start();
    const { csrf } = await new Visitor().get(attempt.url);
    for (const cookie of [undefined, 'forecue=', 'forecue=short', `forecue=${'x'.repeat(43)}`]) {
      const visitor = new Visitor();
      visitor.cookie = cookie;
      assertPage(await visitor.post(attempt.url, { csrf, do: 'deny' }), 403, /out of date/);
    }
  });

  it('the consent page answers 403 to a form that the browser marks as coming from another site', async () => {
    const attempt = await app.start();
    const { visitor } = await signUpVisitor(attempt);
    const { csrf } = await visitor.get(attempt.url);
    for (const site of ['cross-site', 'same-site'])
      assertPage(
        await visitor.post(attempt.url, { csrf, do: 'approve' }, { 'sec-fetch-site': site }),
        403,
        /out of date/,
      );
    const own = await visitor.post(attempt.url, { csrf, do: 'approve' }, { 'sec-fetch-site': 'same-origin' });
    assert.equal(own.status, 303);
  });

  it("the consent page answers 403 to a form whose Origin header is neither the page's own origin nor `null`", async () => {
    const attempt = await app.start();
    const { visitor } = await signUpVisitor(attempt);
    const { csrf } = await visitor.get(attempt.url);
    const approve = (origin: string) => visitor.post(attempt.url, { csrf, do: 'approve' }, { origin });
    const { origin: ours, port } = new URL(attempt.url);
    for (const origin of [
      'https://evil.example',
      `https://localhost:${port}`,
      `${ours}0`,
      'localhost',
      `${ours}/`,
    ])
      assertPage(await approve(origin), 403, /out of date/);
    // Browsers send `null` because of the page's referrer policy.
    assert.equal((await approve('null')).status, 303);
    const next = await app.start();
    const { csrf: again } = await visitor.get(next.url);
    const own = await visitor.post(next.url, { csrf: again, do: 'approve' }, { origin: ours });
    assert.equal(own.status, 303);
  });

  it('the consent page prevents session fixation: its cookie and its CSRF token change at sign-in', async () => {
    const attempt = await app.start();
    const planted = new Visitor();
    const { csrf } = await planted.get(attempt.url);
    const victim = new Visitor();
    victim.cookie = planted.cookie;
    await victim.submit(attempt.url, { do: 'sign-up', email: someEmail(), password: PASSWORD });
    assert.notEqual(victim.cookie, planted.cookie);
    assertPage(await planted.get(attempt.url), 200, /Sign in to continue/);
    assertPage(await victim.post(attempt.url, { csrf, do: 'approve' }), 403, /out of date/);
  });

  it('the consent page shows an error page for a body that is too large or not a form', async () => {
    const { url } = await app.start();
    const post = (body: string, type: string) =>
      new Visitor().request(url, { method: 'POST', body, headers: { 'content-type': type } });
    const form = 'application/x-www-form-urlencoded';
    assertPage(await post('x'.repeat(16 * 1024 + 1), form), 413, /could not be read/);
    assertPage(await post('{}', 'application/json'), 400, /could not be read/);
    assertPage(await post('csrf=%FF&do=%', form), 403, /out of date/);
  });
});

describe('cookie of the consent page', () => {
  const attributes = (seen: ReceivedPage) => seen.headers.getSetCookie()[0]?.split('; ').slice(1).sort();

  it("over http, the consent page's cookie is a session cookie with HttpOnly, SameSite=Lax and Path=/connect", async () => {
    const { url } = await app.start();
    const seen = await new Visitor().get(url);
    assert.match(seen.headers.get('set-cookie') ?? '', /^forecue=[\w-]{43};/);
    assert.deepEqual(attributes(seen), ['httponly', 'path=/connect', 'samesite=lax']);
  });

  it("over https, the consent page's cookie is Secure and has the __Host- prefix, even if PUBLIC_URL has a path", async () => {
    const PUBLIC_URL = 'https://id.example.com/forecue';
    const secure: Part = await system.startWeb({ PUBLIC_URL });
    await using elsewhere = await ConnectingApp.register(system, { issuer: PUBLIC_URL });
    const attempt = await elsewhere.start();
    const url = `${secure.url}/connect/${attempt.requestId}`;
    const visitor = new Visitor();
    const seen = await visitor.get(url);
    assert.match(seen.headers.get('set-cookie') ?? '', /^__Host-forecue=[\w-]{43};/);
    assert.deepEqual(attributes(seen), ['httponly', 'path=/', 'samesite=lax', 'secure']);
    await visitor.submit(url, { do: 'sign-up', email: someEmail(), password: PASSWORD });
    const { location } = await visitor.submit(url, { do: 'approve' });
    assert.ok(elsewhere.check(new URL(location ?? ''), attempt).get('code'));
  });

  it("the consent page's cookie is no credential for the API", async () => {
    const { visitor } = await signUpVisitor(await app.start());
    const token = visitor.cookie?.split('=')[1] ?? '';
    const url = `${system.webs[0]?.url}/api/connections/`;
    const tries: Record<string, string>[] = [
      { cookie: `forecue=${token}` },
      { authorization: `Bearer ${token}` },
      { 'x-service-api-key': token },
    ];
    for (const headers of tries) {
      const { status, code } = await call('GET', url, undefined, { headers });
      assert.deepEqual([status, code], [401, 'not_authenticated']);
    }
  });

  it("the consent page's cookie is stored as a hash", async () => {
    const { visitor } = await signUpVisitor(await app.start());
    const token = visitor.cookie?.split('=')[1] ?? '';
    const rows = await system.sql<{ stored: string }>(
      `select case hash when sha256($1) then 'hashed' when $1 then 'plain' end as stored
         from web_sessions where hash in (sha256($1), $1)`,
      [Buffer.from(token)],
    );
    assert.deepEqual(rows, [{ stored: 'hashed' }]);
  });
});

describe('page headers', () => {
  it('consent pages, including errors and redirects, may not be framed or cached, and send no referrer', async () => {
    const attempt = await app.start();
    const { visitor } = await signUpVisitor(attempt);
    const { csrf } = await visitor.get(attempt.url);
    const pages = [
      await visitor.get(attempt.url),
      await visitor.get(`${attempt.url}x`),
      await visitor.post(attempt.url, { do: 'approve' }),
      await visitor.post(attempt.url, { csrf, do: 'approve' }),
      await visitor.get(attempt.url),
    ];
    assert.deepEqual(pluck(pages, 'status'), [200, 404, 403, 303, 410]);
    for (const { headers } of pages) {
      assert.equal(headers.get('cache-control'), 'no-store');
      assert.equal(headers.get('referrer-policy'), 'no-referrer');
      assert.equal(headers.get('x-frame-options'), 'DENY');
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
      assert.ok(headers.get('x-request-id'));
      const policy = headers.get('content-security-policy') ?? '';
      assert.match(policy, /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/=]{44}';/);
      assert.match(policy, /; frame-ancestors 'none'; base-uri 'none'$/);
    }
  });

  it("the consent page's CSP allows forms to the page and the redirect URI's scheme; error pages allow no forms", async () => {
    const formAction = (seen: ReceivedPage) =>
      /form-action ([^;]*);/.exec(seen.headers.get('content-security-policy') ?? '')?.[1];
    const client = await system.app({ redirectUris: ['https://app.example.com/cb', 'http://[::1]:9/cb'] });
    const policyOf = async (redirect_uri: string) => {
      const { body } = await client.post<{ authorize_url: string }>('/v1/connections', {
        user_id: 'u',
        redirect_uri,
        state: 's'.repeat(32),
        code_challenge: 'c'.repeat(43),
      });
      return formAction(await new Visitor().get(body.authorize_url));
    };
    assert.equal(await policyOf('https://app.example.com/cb'), "'self' https:");
    assert.equal(await policyOf('http://[::1]:9/cb'), "'self' http: https:");
    const { url } = await app.start();
    assert.equal(formAction(await new Visitor().get(`${url}x`)), "'none'");
  });
});
