import assert from 'node:assert/strict';
import { anonymously, logIn, renew, signUp, someEmail, type UserClient } from '../support/account.ts';
import { duringSuite } from '../support/during-suite.ts';
import { startMailServer } from '../support/mail-server.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';
import { Visitor } from './visitor.ts';

describe('another e-mail address', () => {
  const mail = duringSuite(startMailServer);
  const system = useSystem(() => ({
    workers: 0,
    env: { SMTP_URL: mail.url, MAIL_FROM: 'Forecue <forecue@example.com>' },
  }));
  let person: UserClient;
  let url: string;
  beforeEach(async () => {
    person = await signUp(system);
    url = `${system.webs[0]?.url}/connect/new-email`;
  });

  const ask = (email: string, current_password = person.password) =>
    person.post('/api/auth/email/', { email, current_password });
  /** Returns the next mail to this address that has this. */
  const mailTo = (to: string, pattern: RegExp) =>
    until(() => {
      const texts = mail.mails
        .filter((one) => one.to.includes(to))
        .map(({ data }) => data.replace(/=\n/g, '').replaceAll('=3D', '='));
      return texts.map((text) => pattern.exec(text)?.[0]).find((found) => found !== undefined);
    });
  const linkTo = (email: string) => mailTo(email, /http:\S+\/connect\/new-email\?token=[\w-]{43}/);
  const open = async (link: string) => {
    const visitor = new Visitor();
    await visitor.get(link);
    return { visitor, page: await visitor.get(url) };
  };
  const confirm = async (link: string) => {
    const { visitor, page } = await open(link);
    return visitor.post(url, { csrf: page.csrf });
  };
  const addressOf = async (who: UserClient) => (await who.get<{ email: string }>('/api/auth/me/')).body.email;

  it('a new address is confirmed by the link that is mailed there; log-ins go on, and both addresses are told', async () => {
    const [email, before] = [`New.${someEmail()}`, person.email];
    assert.equal((await ask(` ${email} `)).status, 204);
    await mailTo(before, /Somebody with your password[\s\S]*forgotten-password/);
    const link = await linkTo(email);
    const { visitor, page } = await open(link);
    assert.match(page.text, new RegExp(`<bdi>${email}</bdi>`));
    assert.equal(await addressOf(person), before);
    const done = await visitor.post(url, { csrf: page.csrf });
    assert.equal(done.status, 200);
    assert.match(done.text, /Your address is confirmed/);
    assert.equal(await addressOf(person), email);
    await mailTo(before, /no account any more/);
    assert.equal((await renew(system, person.refresh)).status, 200);
    const { password } = person;
    assert.equal((await logIn(system, { email: before, password })).status, 401);
    assert.equal((await logIn(system, { email: email.toLowerCase(), password })).status, 200);
    assert.equal((await signUp(system, { email: before })).email, before);
    assert.equal((await confirm(link)).status, 403);
  });

  it('a link to a new address ends with a later link, a new password, and logging out everywhere', async () => {
    const ends = [
      () => ask(someEmail()),
      () =>
        person.request('PATCH', '/api/auth/me/', {
          password: 'two horses with 18 staples',
          current_password: person.password,
        }),
      () => person.post('/api/auth/logout/', { all: true }),
    ];
    for (const end of ends) {
      person = await signUp(system);
      const email = someEmail();
      await ask(email);
      const { visitor, page } = await open(await linkTo(email));
      assert.ok((await end()).status < 300);
      const late = await visitor.post(url, { csrf: page.csrf });
      assert.deepEqual([late.status, /This link has ended/.test(late.text)], [410, true]);
    }
  });

  it('a link to a new address ends after an hour', async () => {
    const email = someEmail();
    await ask(email);
    const link = await linkTo(email);
    await system.sql('update email_changes set expires_at = now() where account_id = $1', [person.id]);
    assert.equal((await open(link)).page.status, 410);
    assert.equal(await addressOf(person), person.email);
  });

  it('a new address ends links to a new password that were mailed to the old one', async () => {
    const visitor = new Visitor();
    const form = `${system.webs[0]?.url}/connect/forgotten-password`;
    const { csrf } = await visitor.get(form);
    await visitor.post(form, { csrf, email: person.email });
    const reset = await mailTo(person.email, /http:\S+\/connect\/new-password\?token=[\w-]{43}/);
    const email = someEmail();
    await ask(email);
    assert.equal((await confirm(await linkTo(email))).status, 200);
    const late = new Visitor();
    await late.get(reset);
    assert.equal((await late.get(form.replace('forgotten', 'new'))).status, 410);
  });

  it('a new address needs the password, and is 409 if another account has it, also when it is confirmed', async () => {
    const other = await signUp(system);
    assert.equal((await ask(someEmail(), 'not the password')).code, 'access_denied');
    assert.equal((await ask(other.email.toUpperCase())).code, 'email_taken');
    for (const wrong of [person.email, 'no address', '']) assert.equal((await ask(wrong)).status, 422);
    const email = someEmail();
    await ask(email);
    const link = await linkTo(email);
    await signUp(system, { email });
    const late = await confirm(link);
    assert.deepEqual([late.status, /There is an account with this address/.test(late.text)], [422, true]);
    assert.equal(await addressOf(person), person.email);
  });

  it('wrong passwords for a new address count as guesses, and an account gets five links an hour', async () => {
    for (let nth = 0; nth < 5; nth += 1) assert.equal((await ask(someEmail())).status, 204);
    assert.equal((await ask(someEmail())).code, 'rate_limited');
    person = await signUp(system);
    for (let nth = 0; nth < 10; nth += 1)
      assert.equal((await ask(someEmail(), 'not the password')).code, 'access_denied');
    assert.equal((await ask(someEmail(), 'not the password')).code, 'rate_limited');
  });

  it('a server that sends no mail answers feature_disabled to a new address', async () => {
    const web = await system.startWeb({ SMTP_URL: '', MAIL_FROM: '' });
    const elsewhere = await signUp({ webs: [web] });
    const body = { email: someEmail(), current_password: elsewhere.password };
    const headers = { authorization: `Bearer ${elsewhere.access}` };
    const answer = await anonymously(system, 'POST', '/api/auth/email/', body, { headers, at: web });
    assert.deepEqual([answer.status, answer.code], [404, 'feature_disabled']);
    await web.stop();
  });
});
