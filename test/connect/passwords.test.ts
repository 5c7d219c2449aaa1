import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { anonymously, signUp, someEmail, type UserClient } from '../support/account.ts';
import { duringSuite } from '../support/during-suite.ts';
import { startMailServer } from '../support/mail-server.ts';
import { pluck } from '../support/pluck.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';
import { type ReceivedPage, Visitor } from './visitor.ts';

const NEW_PASSWORD = 'a horse with 10 staples';

describe('forgotten password', () => {
  const mail = duringSuite(startMailServer);
  const system = useSystem(() => ({
    workers: 0,
    env: { SMTP_URL: mail.url, MAIL_FROM: 'Forecue <forecue@example.com>', TRUST_PROXY: 'loopback' },
  }));
  let url: string;
  before(() => {
    url = `${system.webs[0]?.url}/connect/`;
  });
  beforeEach(() => {
    mail.mails.length = 0;
  });

  let networkCount = 0;
  /** Requests a reset link by e-mail, from a new network each time unless `from` is given. */
  async function ask(email: string, from = network()): Promise<ReceivedPage> {
    const visitor = new Visitor();
    const { csrf } = await visitor.get(`${url}forgotten-password`);
    return visitor.post(`${url}forgotten-password`, { csrf, email }, { 'x-forwarded-for': from });
  }
  function network(): string {
    networkCount += 1;
    return `203.0.113.${networkCount}`;
  }

  /** Returns what matches in the next mail that has it. */
  const mailed = (pattern: RegExp) =>
    until(() => {
      const texts = mail.mails.map(({ data }) => data.replace(/=\n/g, '').replaceAll('=3D', '='));
      return texts.map((text) => pattern.exec(text)?.[0]).find((found) => found !== undefined);
    });
  const mailedLink = () => mailed(/http:\S+\/connect\/new-password\?token=[\w-]{43}/);

  /** Opens a link as a browser does, so that the visitor ends up on the page it redirects to. */
  async function open(link: string): Promise<{ visitor: Visitor; page: ReceivedPage }> {
    const visitor = new Visitor();
    const moved = await visitor.get(link);
    assert.deepEqual([moved.status, moved.location], [303, 'new-password']);
    return { visitor, page: await visitor.get(`${url}new-password`) };
  }

  const save = async (
    { visitor, page }: Awaited<ReturnType<typeof open>>,
    fields: Record<string, string>,
    from = network(),
  ) => visitor.post(`${url}new-password`, { csrf: page.csrf, ...fields }, { 'x-forwarded-for': from });

  const logIn = async (email: string, password: string) =>
    (await anonymously(system, 'POST', '/api/auth/login/', { email, password })).status;

  it('a forgotten password can be replaced through a mailed reset link, and every log-in of the account then ends', async () => {
    const person = await signUp(system);
    const asked = await ask(person.email.toUpperCase());
    assert.equal(asked.status, 200);
    assert.match(asked.text, /Check your inbox/);
    const link = await mailedLink();
    assert.deepEqual([mail.mails[0]?.from, mail.mails[0]?.to], ['forecue@example.com', [person.email]]);
    const opened = await open(link);
    assert.match(opened.page.text, new RegExp(`<bdi>${person.email}</bdi>`));
    const saved = await save(opened, { password: NEW_PASSWORD });
    assert.equal(saved.status, 200);
    assert.match(saved.text, /Your password is changed[\s\S]*href="\.\.\/console\/"/);
    assert.deepEqual(
      [await logIn(person.email, person.password), await logIn(person.email, NEW_PASSWORD)],
      [401, 200],
    );
    await until(async () => (await person.get('/api/auth/me/')).code === 'token_expired');
    assert.ok(await mailed(/password was changed[\s\S]*http:\S+\/connect\/forgotten-password/));
    const { refresh } = person;
    assert.equal((await anonymously(system, 'POST', '/api/auth/token/refresh/', { refresh })).status, 401);
  });

  it('a person gets a mail when their password is changed with the current one, and none for a wrong one', async () => {
    const { access, email, password } = await signUp(system);
    const change = (current_password: string) =>
      anonymously(
        system,
        'PATCH',
        '/api/auth/me/',
        { password: NEW_PASSWORD, current_password },
        { headers: { authorization: `Bearer ${access}` } },
      );
    assert.equal((await change('not it at all')).status, 403);
    assert.equal((await change(password)).status, 200);
    assert.ok(await mailed(/password was changed/));
    assert.deepEqual(pluck(mail.mails, 'to'), [[email]]);
  });

  it('once a forgotten password is replaced, every password reset link of the account is 410', async () => {
    const { email } = await signUp(system);
    await ask(email);
    const first = await open(await mailedLink());
    mail.mails.length = 0;
    await ask(email);
    const link = await mailedLink();
    const second = await open(link);
    assert.equal((await save(second, { password: NEW_PASSWORD })).status, 200);
    for (const again of [await save(first, { password: `${NEW_PASSWORD}!` }), (await open(link)).page]) {
      assert.equal(again.status, 410);
      assert.match(again.text, /This link has ended[\s\S]*href="forgotten-password"/);
    }
    assert.equal(await logIn(email, NEW_PASSWORD), 200);
  });

  it('only one of many concurrent uses of a password reset link replaces the password', async () => {
    const { email } = await signUp(system);
    await ask(email);
    const link = await mailedLink();
    const opened = await Promise.all(Array.from({ length: 30 }, () => open(link)));
    // Spreads the requests over time, so that some read the link just after another has used it.
    const saved = await Promise.all(
      opened.map(async (one, nth) => {
        await sleep(4 * nth);
        return (await save(one, { password: `${NEW_PASSWORD} ${nth}` }, network())).status;
      }),
    );
    assert.deepEqual(new Set(saved), new Set([200, 410]));
    assert.equal(saved.filter((status) => status === 200).length, 1);
    assert.equal(await logIn(email, `${NEW_PASSWORD} ${saved.indexOf(200)}`), 200);
  });

  it('an expired or unknown password reset link gets a 410 page that says so', async () => {
    const { email } = await signUp(system);
    await ask(email);
    const opened = await open(await mailedLink());
    await system.sql('update password_resets set expires_at = now()');
    assert.equal((await save(opened, { password: NEW_PASSWORD })).status, 410);
    const never = await open(`${url}new-password?token=${'x'.repeat(43)}`);
    for (const page of [never.page, await new Visitor().get(`${url}new-password?token=<b>`)]) {
      assert.equal(page.status, 410);
      assert.match(page.text, /This link has ended/);
    }
    assert.equal(await logIn(email, NEW_PASSWORD), 401);
  });

  it("a password reset link stops working when the account's password changes or the account is erased", async () => {
    const person = await signUp(system);
    await ask(person.email);
    const opened = await open(await mailedLink());
    const change = { password: NEW_PASSWORD, current_password: person.password };
    assert.equal((await person.request('PATCH', '/api/auth/me/', change)).status, 200);
    assert.equal((await save(opened, { password: `${NEW_PASSWORD}!` })).status, 410);

    const gone = await signUp(system);
    mail.mails.length = 0;
    await ask(gone.email);
    const left = await open(await mailedLink());
    await gone.request('DELETE', '/api/auth/me/');
    assert.equal((await save(left, { password: NEW_PASSWORD })).status, 410);
  });

  it("replacing a forgotten password keeps the account's keys, unless the person chooses to revoke the keys", async () => {
    const keyOf = async (person: UserClient) =>
      (await person.post<{ key: string }>('/api/auth/keys/', { label: 'k' })).body.key;
    for (const revoke of [false, true]) {
      const person = await signUp(system);
      const headers = { 'x-service-api-key': await keyOf(person) };
      mail.mails.length = 0;
      await ask(person.email);
      await save(await open(await mailedLink()), {
        password: NEW_PASSWORD,
        ...(revoke && { revoke_keys: 'yes' }),
      });
      const status = async () =>
        (await anonymously(system, 'GET', '/api/auth/keys/', undefined, { headers })).status;
      await until(async () => (await status()) === (revoke ? 401 : 200));
    }
  });

  it('a forgotten password cannot be replaced by a weak password, and the reset link stays valid', async () => {
    const { email } = await signUp(system);
    await ask(email);
    const opened = await open(await mailedLink());
    const weak: [string, RegExp][] = [
      ['short', /Use at least 10 characters/],
      ['password123', /too common/],
      [email, /as your e-mail address/],
    ];
    for (const [password, says] of weak) {
      const { status, text } = await save(opened, { password });
      assert.equal(status, 422);
      assert.match(text, says);
    }
    assert.equal((await save(opened, { password: NEW_PASSWORD })).status, 200);
  });

  it('a request for a password reset link gets the same page with or without an account; only an account gets mail', async () => {
    const { email } = await signUp(system);
    const nobody = someEmail();
    const strangers = await ask(nobody);
    const persons = await ask(email);
    const contentOf = ({ status, text }: ReceivedPage, address: string) => [
      status,
      text.replace(address, ''),
    ];
    assert.deepEqual(contentOf(strangers, nobody), contentOf(persons, email));
    await mailedLink();
    assert.deepEqual(
      mail.mails.filter(({ data }) => data.includes('/new-password')).flatMap(({ to }) => to),
      [email],
    );
  });

  it('a request for a password reset link is answered without waiting for a lock on the account', async () => {
    const { email, id } = await signUp(system);
    const lock = await system.database.pool.connect();
    try {
      await lock.query('begin');
      await lock.query('select from accounts where id = $1 for update', [id]);
      assert.equal((await ask(email)).status, 200);
      assert.equal(mail.mails.length, 0);
    } finally {
      await lock.query('rollback');
      lock.release();
    }
    await mailedLink();
  });

  it('password reset requests are limited to five per e-mail address, with or without an account, and 50 per network', async () => {
    for (const email of [(await signUp(system)).email, someEmail()]) {
      const answers: ReceivedPage[] = [];
      for (let nth = 0; nth < 6; nth += 1) answers.push(await ask(email));
      assert.deepEqual(pluck(answers, 'status'), [200, 200, 200, 200, 200, 429]);
      assert.ok(Number(answers[5]?.headers.get('retry-after')) > 0);
      assert.match(answers[5]?.text ?? '', /Too many tries/);
    }
    const office = network();
    const statuses = await Promise.all(Array.from({ length: 51 }, () => ask(someEmail(), office)));
    assert.equal(statuses.filter(({ status }) => status === 429).length, 1);
    assert.equal((await ask(someEmail())).status, 200);
  });

  it('mail with a password reset link is retried if the mail server is busy, but not if the address is refused', async () => {
    const { email } = await signUp(system);
    mail.refusals.push('451 later');
    await ask(email);
    await mailedLink();
    mail.mails.length = 0;
    mail.refusals.push('550 no such person');
    const other = await signUp(system);
    await ask(other.email);
    await until(() => system.webs[0]?.log.includes('a mail was not sent'));
    assert.equal(mail.mails.length, 0);
    assert.ok(!system.webs[0]?.log.includes(other.email));
  });

  it('a password reset link is mailed to exactly one address, even if the address contains a comma', async () => {
    const odd = `"a,b"-${someEmail()}`;
    const { email } = await signUp(system, { email: odd });
    await ask(email);
    await mailedLink();
    assert.deepEqual(
      mail.mails.map(({ to }) => to.length),
      [1],
    );
  });

  it("the pages for a forgotten password accept only their own forms, and do not leak the reset link's token", async () => {
    const { email } = await signUp(system);
    await ask(email);
    const link = await mailedLink();
    const opened = await open(link);
    const { headers, text } = opened.page;
    assert.equal(headers.get('referrer-policy'), 'no-referrer');
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.match(
      headers.get('content-security-policy') ?? '',
      /default-src 'none'.*form-action 'self';.*frame-ancestors 'none'/,
    );
    const token = new URL(link).searchParams.get('token') ?? '';
    assert.ok(!text.includes(token) && !system.webs[0]?.log.includes(token));
    const given = (await new Visitor().get(link)).headers.getSetCookie();
    assert.deepEqual(given, [`forecue-reset=${token}; path=/connect/new-password; samesite=lax; httponly`]);
    const visitor = new Visitor();
    const { csrf } = await visitor.get(`${url}forgotten-password`);
    const refused = [
      await save(opened, { csrf: '', password: NEW_PASSWORD }),
      await save(opened, { csrf, password: NEW_PASSWORD }),
      await opened.visitor.post(
        `${url}new-password`,
        { csrf: opened.page.csrf, password: NEW_PASSWORD },
        { 'sec-fetch-site': 'same-site' },
      ),
      await new Visitor().post(`${url}new-password`, { csrf: opened.page.csrf, password: NEW_PASSWORD }),
      await visitor.post(`${url}forgotten-password`, { email }),
      await visitor.post(`${url}forgotten-password`, { csrf, email }, { origin: 'https://evil.example' }),
    ];
    assert.deepEqual(
      pluck(refused, 'status'),
      refused.map(() => 403),
    );
    const nonsense = await visitor.post(`${url}forgotten-password`, { csrf, email: 'nobody' });
    assert.equal(nonsense.status, 422);
    assert.match(nonsense.text, /Enter an e-mail address/);
  });

  it('without a mail server, the page for a forgotten password tells people to ask the operator for a reset link', async () => {
    const { url: silent } = await system.startWeb({ SMTP_URL: '', CONSOLE: 'off' });
    const visitor = new Visitor();
    for (const answer of [
      await visitor.get(`${silent}/connect/forgotten-password`),
      await visitor.post(`${silent}/connect/forgotten-password`, { email: someEmail() }),
    ]) {
      assert.equal(answer.status, 200);
      assert.match(answer.text, /Ask whoever runs it for a link/);
    }
  });
});
