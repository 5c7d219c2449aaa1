import assert from 'node:assert/strict';
import type { DecisionSettings } from '../../shared/schemas/decisions.ts';
import { Visitor } from '../connect/visitor.ts';
import { signUp, someEmail, type UserClient } from '../support/account.ts';
import { duringSuite } from '../support/during-suite.ts';
import { startMailServer } from '../support/mail-server.ts';
import { inputsOf, predictBatch, predictSuccessfully, proposeReplies } from '../support/replies.ts';
import { useProcesses } from '../support/system.ts';
import { until } from '../support/until.ts';
import { deliveriesOf, makeWebhook } from '../support/webhooks.ts';

const QUESTION = /^Subject: Forecue: .* for you$/m;

describe('mail about escalated predictions', () => {
  const mail = duringSuite(startMailServer);
  const system = useProcesses(() => ({
    workerEntry: ['workers/main.ts', 'all'],
    env: {
      SMTP_URL: mail.url,
      MAIL_FROM: 'Forecue <forecue@example.com>',
      LEASE_MS: '2000',
      PUBLIC_URL: 'http://localhost:1',
      ALLOW_PRIVATE_ADDRESSES: 'true',
    },
  }));
  let person: UserClient;
  beforeEach(async () => {
    mail.refusals.length = 0;
    system.provider.reset();
    system.provider.respond(proposeReplies([{ response: 'Blue' }]));
    person = await signUp(system);
  });

  const readable = (data: string) => data.replaceAll('=\n', '').replaceAll('=3D', '=');
  const mailsTo = (email: string, pattern: RegExp) =>
    mail.mails
      .filter(({ to }) => to.includes(email))
      .flatMap(({ data }) => pattern.exec(readable(data)) ?? []);
  const notesTo = ({ email }: { email: string }) =>
    mail.mails
      .map((one) => ({ ...one, data: readable(one.data) }))
      .filter(({ to, data }) => to.includes(email) && QUESTION.test(data));
  const change = (escalation_mail: 'on' | 'off') =>
    person.request<DecisionSettings>('PATCH', '/api/decisions/settings/', { escalation_mail });
  const settings = async () =>
    (await person.get<DecisionSettings>('/api/decisions/settings/')).body.escalation_mail;
  const linkTo = (email: string) =>
    until(() => mailsTo(email, /http:\S+\/connect\/new-email\?token=[\w-]{43}/).at(-1));
  async function confirm(link: string): Promise<void> {
    const visitor = new Visitor();
    const url = `${system.webs[0]?.url}/connect/new-email`;
    await visitor.get(`${url}?${link.split('?')[1]}`);
    const { csrf } = await visitor.get(url);
    const { status, text } = await visitor.post(url, { csrf });
    assert.equal(status, 200, text);
  }
  async function switchOn(): Promise<void> {
    assert.equal((await change('on')).body.escalation_mail, 'unconfirmed');
    await confirm(await linkTo(person.email));
    assert.equal(await settings(), 'on');
  }
  const ask = (agent_input: string, more: object = {}) =>
    predictSuccessfully(person, { agent_input, ...more });
  /** Ends the window after a mail, as if the time had passed. */
  async function passTime(): Promise<void> {
    const own = `(select id from webhooks where account_id = $1)`;
    await system.sql('update webhooks set rests_until = null where account_id = $1', [person.id]);
    await system.sql(
      `update deliveries set next_attempt_at = now() where webhook_id in ${own} and next_attempt_at is not null`,
      [person.id],
    );
  }

  it('is sent at once, with the question as one harmless line and a link to the inbox', async () => {
    await switchOn();
    const hostile =
      'Which\r\nBcc: all@example.com\n\n\u202Egnp.exe \u0007colour? sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD';
    const since = performance.now();
    const { status } = await ask(`${hostile} ${'x'.repeat(2000)}`, { agent: 'coder\u2028Subject: hers' });
    const asked = performance.now();
    assert.equal(status, 'escalated');
    const [note] = await until(() => notesTo(person).length > 0 && notesTo(person));
    const arrived = performance.now();
    console.info(
      `      ${Math.round(arrived - since)} ms from the request, ${Math.round(arrived - asked)} ms from the answer`,
    );
    assert.ok(note);
    assert.deepEqual(note.to, [person.email]);
    const [head = '', text = ''] = note.data.split(/\n\n([\s\S]*)/);
    assert.match(head, /^Subject: Forecue: a question waits for you$/m);
    assert.match(head, /^Auto-Submitted: auto-generated$/m);
    assert.doesNotMatch(head, /Bcc|hers/);
    assert.match(text, /^> Which Bcc: all@example\.com gnp\.exe colour\?/m);
    assert.doesNotMatch(text, /sk-proj-|x{301}|Blue|[\p{Cf}\u2028]/u);
    assert.match(text, /http:\/\/localhost:1\/console\/#\/inbox/);
    for (const { log } of [...system.webs, ...system.workers]) assert.ok(!log.includes('gnp.exe'));
  });

  it('what follows within ten minutes waits, and comes in one mail without what was answered meanwhile', async () => {
    await switchOn();
    await ask('First?');
    await until(() => notesTo(person).length === 1);
    const { id } = await ask('Second?');
    for (const question of ['Third?', 'Fourth?']) await ask(question);
    await person.post(`/api/predictions/${id}/feedback/`, { status: 'accepted' });
    const due = await system.sql<{ s: number }>(
      `select extract(epoch from next_attempt_at - now())::float8 as s from deliveries d
         join webhooks w on w.id = d.webhook_id where w.account_id = $1 and next_attempt_at is not null`,
      [person.id],
    );
    assert.equal(due.length, 3);
    for (const { s } of due) assert.ok(s > 500 && s <= 600, String(s));
    assert.equal(notesTo(person).length, 1);
    await passTime();
    const [, second] = await until(() => notesTo(person).length > 1 && notesTo(person));
    assert.match(second?.data ?? '', /Subject: Forecue: 2 questions wait for you/);
    assert.match(second?.data ?? '', /> Third\?\n[\s\S]*> Fourth\?\n/);
    assert.doesNotMatch(second?.data ?? '', /Second/);
    await predictBatch(person, inputsOf(8));
    await passTime();
    const [, , third] = await until(() => notesTo(person).length > 2 && notesTo(person));
    assert.match(third?.data ?? '', /Subject: Forecue: 8 questions wait for you[\s\S]*and 3 more\./);
  });

  it('is off by default, begins only when the address is confirmed, and ends with what waits', async () => {
    assert.equal(await settings(), 'off');
    await ask('Before?');
    assert.equal((await change('on')).body.escalation_mail, 'unconfirmed');
    await ask('Unconfirmed?');
    await confirm(await linkTo(person.email));
    await ask('Mine?');
    await until(() => notesTo(person).length === 1);
    assert.doesNotMatch(notesTo(person)[0]?.data ?? '', /Before|Unconfirmed/);
    await ask('Later?');
    assert.equal((await change('off')).body.escalation_mail, 'off');
    const other = person;
    person = await signUp(system);
    await switchOn();
    await ask('After?');
    await until(() => notesTo(person).length === 1);
    assert.equal(notesTo(other).length, 1);
    assert.deepEqual(mailsTo(other.email, /no account any more/), []);
  });

  it('goes to a changed address once that is confirmed, and a trial or what is decided for the person is not mailed', async () => {
    await switchOn();
    const email = someEmail();
    await person.post('/api/auth/email/', { email, current_password: person.password });
    await confirm(await linkTo(email));
    await ask('Tried?', { trial: true });
    await ask('Decided?', { threshold: 0 });
    await ask('Left?');
    await until(() => notesTo({ email }).length > 0);
    assert.match(notesTo({ email })[0]?.data ?? '', /a question waits[\s\S]*> Left\?/);
    assert.equal(notesTo(person).length, 0);
  });

  it('a mail server that fails gets it again, and an address that it does not know gets no more of it', async () => {
    await switchOn();
    mail.refusals.push('451 later');
    await ask('Again?');
    const state = async () =>
      (
        await system.sql<{ state: string; reason: string | null; attempts: number }>(
          `select state, reason, attempts from deliveries d join webhooks w on w.id = d.webhook_id
            where w.account_id = $1 order by d.id desc limit 1`,
          [person.id],
        )
      )[0];
    await until(async () => (await state())?.reason === 'no mail: EENVELOPE 451');
    assert.equal(notesTo(person).length, 0);
    await passTime();
    await until(() => notesTo(person).length === 1);
    await until(async () => (await state())?.state === 'delivered');
    assert.equal((await state())?.attempts, 2);
    mail.refusals.push('550 who?');
    await ask('Nobody?');
    await passTime();
    await until(async () => (await state())?.state === 'failed');
    assert.equal(notesTo(person).length, 1);
  });

  it('a worker that is killed while it mails loses nothing', async () => {
    await switchOn();
    mail.refusals.push('');
    await ask('Killed?');
    await until(() => mail.refusals.length === 0);
    await system.workers[0]?.stop();
    system.workers[0] = await system.startWorker();
    await until(() => notesTo(person).length === 1);
    assert.match(notesTo(person)[0]?.data ?? '', /> Killed\?/);
  });

  it('a disabled account gets none, and a worker without a mail server leaves mails to others', async () => {
    await switchOn();
    mail.refusals.push('451 later');
    await ask('Disabled?');
    await until(() => mail.refusals.length === 0);
    await system.sql('update accounts set active = false where id = $1', [person.id]);
    await passTime();
    const pending = `select from deliveries d join webhooks w on w.id = d.webhook_id
      where w.account_id = $1 and d.state = 'pending'`;
    await until(async () => (await system.sql(pending, [person.id])).length === 0);
    assert.equal(notesTo(person).length, 0);
    person = await signUp(system);
    await switchOn();
    await using other = await system.startWorker({ SMTP_URL: '', MAIL_FROM: '' });
    await system.workers[0]?.stop();
    await ask('Whose?');
    await until(
      async () => (await system.sql(`${pending} and d.next_attempt_at <= now()`, [person.id])).length === 1,
    );
    system.workers[0] = await system.startWorker();
    await until(() => notesTo(person).length === 1);
    assert.equal(other.child.exitCode, null);
  });

  it('is no webhook to its owner, and belongs to nobody else', async () => {
    await switchOn();
    const { id } = await makeWebhook(person, { url: 'http://127.0.0.1:1/', events: ['job.finished'] });
    const { body } = await person.get<{ results: { id: string }[] }>('/api/webhooks/');
    assert.deepEqual(
      body.results.map((one) => one.id),
      [id],
    );
    const [own] = await system.sql<{ id: string }>(
      `select id from webhooks where account_id = $1 and url = 'mailto:'`,
      [person.id],
    );
    assert.equal((await person.get(`/api/webhooks/${own?.id}/`)).status, 404);
    assert.deepEqual(await deliveriesOf(person, id), []);
  });

  it('a server that sends no mail answers feature_disabled, and an account gets five links an hour', async () => {
    for (let nth = 0; nth < 5; nth += 1) assert.equal((await change('on')).status, 200);
    assert.equal((await change('on')).code, 'rate_limited');
    await using web = await system.startWeb({ SMTP_URL: '', MAIL_FROM: '' });
    const elsewhere = await signUp({ webs: [web] });
    const refused = await elsewhere.request('PATCH', '/api/decisions/settings/', { escalation_mail: 'on' });
    assert.deepEqual([refused.status, refused.code], [404, 'feature_disabled']);
  });
});
