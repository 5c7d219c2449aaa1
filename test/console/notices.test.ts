import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { UserClient } from '../support/account.ts';
import { faultsOn } from '../support/axe.ts';
import { describeInBrowser, openNotifyingBrowser } from '../support/browser.ts';
import { duringSuite } from '../support/during-suite.ts';
import { startMailServer } from '../support/mail-server.ts';
import { pluck } from '../support/pluck.ts';
import { predictSuccessfully } from '../support/replies.ts';
import { until } from '../support/until.ts';
import {
  clientOf,
  goTo,
  type Person,
  personIn,
  press,
  signUp,
  signUpInBrowser,
  useConsole,
} from './visit.ts';

const SWITCH = 'Notify me here of questions that wait';

/** Keeps what the page shows: each is a real notification. */
const SPY = `
  window.shown = [];
  window.Notification = new Proxy(Notification, {
    construct(target, [title, options]) {
      const one = new target(title, options);
      window.shown.push({ title, ...options, one });
      return one;
    },
  });`;

interface Shown {
  title: string;
  body: string;
  tag: string;
}

const countIn = (page: Page) => page.evaluate<number>('window.shown.length');
const shownIn = (page: Page) =>
  page.evaluate<Shown[]>('window.shown.map(({ title, body, tag }) => ({ title, body, tag }))');

describeInBrowser('notices of questions that wait', () => {
  const mail = duringSuite(startMailServer);
  const at = useConsole(
    () => ({ SMTP_URL: mail.url, MAIL_FROM: 'forecue@example.com' }),
    openNotifyingBrowser,
  );

  async function open(): Promise<{ person: Person; page: Page; client: UserClient }> {
    const person = await personIn(at);
    await person.context.grantPermissions(['notifications']);
    await person.context.addInitScript(SPY);
    const page = await person.open();
    await signUp(page, person.email);
    return { person, page, client: await clientOf(at.system, person) };
  }

  it('a question that is left to the person is shown as a notification, in one tab, and a click leads to it', async () => {
    const { person, page, client } = await open();
    await predictSuccessfully(client, { agent_input: 'Earlier?' });
    await goTo(page, 'Account');
    await page.getByLabel(SWITCH).check();
    const second = await person.open('#/memory');
    await second.getByRole('heading', { name: 'Memory' }).waitFor();
    await predictSuccessfully(client, { agent_input: 'Decided?', trial: true });
    const question = `Which\ncolour? ${'x'.repeat(400)}`;
    const { id } = await predictSuccessfully(client, { agent_input: question });
    const since = performance.now();
    await until(() => countIn(page));
    console.info(`      ${Math.round(performance.now() - since)} ms after the answer`);
    assert.deepEqual(await shownIn(page), [
      { title: 'A question waits for you', body: `coder: Which colour? ${'x'.repeat(129)}`, tag: id },
    ]);
    for (const nth of [1, 2]) await predictSuccessfully(client, { agent_input: `Later ${nth}?` });
    await until(async () => (await countIn(page)) === 3);
    assert.deepEqual(await shownIn(second), []);
    await page.evaluate('window.shown[0].one.dispatchEvent(new Event("click"))');
    await page.locator('blockquote').getByText('Which').waitFor();
    assert.equal(new URL(page.url()).hash, '#/inbox');
    await page.reload();
    await second.close();
    await goTo(page, 'Account');
    assert.ok(await page.getByLabel(SWITCH).isChecked());
    await page.getByLabel(SWITCH).uncheck();
    await predictSuccessfully(client, { agent_input: 'Unheard?' });
    await page.getByRole('link', { name: 'Inbox 5 waiting' }).waitFor();
    assert.deepEqual(await shownIn(page), []);
    assert.deepEqual(person.complaints, []);
  });

  it('what the person asks in the console is not notified, and many at once are one notification', async () => {
    const { page, client } = await open();
    await goTo(page, 'Account');
    await page.getByLabel(SWITCH).check();
    await goTo(page, 'Inbox');
    await page.getByText('Predict many at once').click();
    await page.getByLabel('What the agent asks').fill('Mine?\nMine too?');
    await press(page, 'Predict them');
    await page.getByText('2 of 2 are ready.').waitFor();
    const prompts = Array.from({ length: 5 }, (_, nth) => ({
      agent: 'coder',
      agent_input: `Theirs ${nth}?`,
    }));
    const { promise: allAsked, resolve: release } = Promise.withResolvers<void>();
    await page.route('**/api/predictions/?**', async (route) => {
      await allAsked;
      await route.continue();
    });
    assert.equal((await client.post('/api/predictions/predict/batch/', { prompts })).status, 200);
    release();
    await until(() => countIn(page));
    assert.deepEqual(pluck(await shownIn(page), 'title'), ['5 questions wait for you']);
  });

  it('a browser that blocks notifications is told how to allow them', async () => {
    const person = await personIn(at);
    await person.context.addInitScript(`
      Object.defineProperty(Notification, 'permission', { get: () => 'denied' });
      Notification.requestPermission = async () => 'denied';`);
    const page = await person.open();
    await signUp(page, person.email);
    await goTo(page, 'Account');
    await page.getByText('Your browser blocks notifications of this page.').waitFor();
    await page.getByLabel(SWITCH).click();
    await page.getByLabel(SWITCH).and(page.locator(':not(:checked)')).waitFor();
  });

  it('mails are switched on, wait for the link that confirms the address, and are switched off', async () => {
    const { person, page } = await signUpInBrowser(at);
    await goTo(page, 'Account');
    const byMail = page.getByLabel(`Mail them to ${person.email}`);
    await byMail.click();
    await page.getByText('Open the link that was mailed').waitFor();
    assert.ok(await byMail.isChecked());
    assert.deepEqual(await faultsOn(page), []);
    const link = await until(() =>
      mail.mails
        .filter(({ to }) => to.includes(person.email))
        .map(({ data }) => data.replaceAll('=\n', '').replaceAll('=3D', '='))
        .map((data) => /\/connect\/new-email\?token=[\w-]{43}/.exec(data)?.[0])
        .at(-1),
    );
    const tab = await person.context.newPage();
    await tab.goto(`${at.system.webs[0]?.url}${link}`);
    await press(tab, 'That is my address');
    await tab.getByRole('heading', { name: 'Your address is confirmed' }).waitFor();
    await page.bringToFront();
    await page.getByText('Open the link that was mailed').waitFor({ state: 'detached' });
    await byMail.click();
    await until(async () => !(await byMail.isChecked()));
  });
});
