import assert from 'node:assert/strict';
import type { Page, Route } from 'playwright-core';
import { issueKey, KeyClient, type UserClient } from '../support/account.ts';
import { describeInBrowser } from '../support/browser.ts';
import { predictSuccessfully } from '../support/replies.ts';
import { until } from '../support/until.ts';
import {
  clientOf,
  goTo,
  openRow,
  type Person,
  personIn,
  press,
  rowWith,
  signUpInBrowser,
  useConsole,
} from './visit.ts';

const isStream = (request: { url(): string }) => request.url().endsWith('/api/changes/');

describeInBrowser('changes made elsewhere, in the console', () => {
  const at = useConsole();
  let person: Person;
  let client: UserClient;
  let tab: Page;

  before(async () => {
    ({ person, page: tab } = await signUpInBrowser(at));
    client = await clientOf(at.system, person);
    const facts = [{ text: 'I drink tea.' }, { text: 'I live in Ulm.' }, { text: 'I use tabs.' }];
    assert.equal((await client.request('POST', '/api/memory/facts/', facts)).status, 201);
  });

  /** Opens another tab, and counts the streams that the browser opens for it. */
  async function openTab(path: string) {
    const page = await person.open(path);
    await page.locator('.a-row').first().waitFor();
    return page;
  }

  it('a fact that is forgotten in one tab of the console goes from another tab, and from another browser', async () => {
    const other = await personIn(at);
    const elsewhere = await other.open();
    const following = elsewhere.waitForResponse(isStream);
    await elsewhere.getByLabel('E-mail').fill(person.email);
    await elsewhere.getByLabel('Password').fill('a horse with 9 staples');
    await press(elsewhere, 'Sign in');
    await following;
    await goTo(elsewhere, 'Memory');
    await rowWith(elsewhere, 'I drink tea.').waitFor();
    const streams: string[] = [];
    person.context.on('request', (request) => isStream(request) && streams.push(request.url()));
    const second = await openTab('#/memory');
    await goTo(tab, 'Memory');
    await openRow(tab, 'I drink tea.');
    await tab
      .locator('dialog.pane')
      .getByRole('button', { name: /^Forget/ })
      .click();
    await tab
      .getByRole('dialog', { name: /^Forget it/ })
      .getByRole('button', { name: 'Forget' })
      .click();
    for (const page of [second, elsewhere]) {
      await rowWith(page, 'I drink tea.').waitFor({ state: 'detached' });
      await rowWith(page, 'I use tabs.').waitFor();
    }
    assert.deepEqual(streams, [], 'the second tab shares the stream of the first');
    await second.close();
    await other.context.close();
  });

  it('a prediction that a key asks for appears in the open inbox of the console, and in its count elsewhere', async () => {
    const key = new KeyClient(client, await issueKey(client));
    await goTo(tab, 'Inbox');
    await tab.getByText('Nothing waits for you.').waitFor();
    await predictSuccessfully(key, { agent_input: 'Shall I use tabs or spaces?' });
    await tab.locator('blockquote').getByText('Shall I use tabs or spaces?').waitFor();
    await goTo(tab, 'Keys');
    await predictSuccessfully(key, { agent_input: 'Which port shall I use?' });
    await tab.getByRole('link', { name: 'Inbox 2 waiting' }).waitFor();
  });

  it('a profile that is written elsewhere shows in the open profile of the console, except in what is being edited', async () => {
    const write = async (profile: object) =>
      assert.ok((await client.request('POST', '/api/memory/profile/', profile)).status < 300);
    await write({ summary: 'I write in the evening.', data: { city: 'Ulm' } });
    await goTo(tab, 'Memory');
    await tab.getByRole('link', { name: 'Profile' }).click();
    const summary = tab.getByLabel('About you, in your own words');
    const city = tab.getByLabel('Value').first();
    await until(async () => (await city.inputValue()) === 'Ulm');
    await write({ summary: 'I write at noon.', data: { city: 'Graz' } });
    await until(async () => (await city.inputValue()) === 'Graz');
    assert.equal(await summary.inputValue(), 'I write at noon.');
    await summary.fill('I write at night.');
    await write({ summary: 'I write at dawn.', data: { city: 'Linz' } });
    await until(async () => (await city.inputValue()) === 'Linz');
    assert.equal(await summary.inputValue(), 'I write at night.');
    await press(tab, 'Save');
    await tab.getByText('Saved.').waitFor();
    const { body } = await client.get<{ summary: string; data: object }>('/api/memory/profile/');
    assert.deepEqual([body.summary, body.data], ['I write at night.', { city: 'Linz' }]);
  });

  it('many changes make the console load its rows once a second at most', async () => {
    await goTo(tab, 'Memory');
    await rowWith(tab, 'I use tabs.').waitFor();
    let loads = 0;
    const count = (request: { url(): string }) => {
      if (request.url().includes('/api/memory/facts/?') && request.url().includes('pinned=false')) loads += 1;
    };
    tab.on('request', count);
    const since = performance.now();
    for (let nth = 0; nth < 60; nth += 1) await client.post('/api/memory/facts/', { text: `Fact ${nth}` });
    await rowWith(tab, 'Fact 59').waitFor();
    const seconds = (performance.now() - since) / 1000;
    assert.ok(loads <= 2 + seconds, `${loads} loads in ${seconds} s`);
    tab.off('request', count);
  });

  /** Answers requests for the parts that the console's first page does not need, until the returned function is called. */
  async function failLateParts(page: Page, answer: (route: Route) => Promise<void>): Promise<() => void> {
    const text = await (await fetch(`${at.system.webs[0]?.url}/console/`)).text();
    const early = Array.from(text.matchAll(/part-\w+\.js/g), ([name]) => name);
    let isFailing = true;
    await page.route(/part-\w+\.js$/, (route) =>
      isFailing && !early.some((name) => route.request().url().endsWith(name))
        ? answer(route)
        : route.continue(),
    );
    return () => {
      isFailing = false;
    };
  }

  it('a page of the console that does not load while the server is away shows one bar, and loads by itself afterwards', async () => {
    const page = await person.context.newPage();
    const restore = await failLateParts(page, (route) => route.abort());
    await page.route('**/console/', (route) =>
      route.request().method() === 'HEAD' ? route.fulfill({ status: 502 }) : route.continue(),
    );
    await page.goto(`${at.system.webs[0]?.url}/console/#/keys`);
    await page.locator('.away', { hasText: 'No answer came' }).waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
    restore();
    await page.unroute('**/console/');
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    await until(async () => (await page.locator('.away').textContent()) === '');
    await page.close();
  });

  it('a console whose parts a new release has replaced reloads once, and then opens the page or says that something went wrong', async () => {
    const page = await person.context.newPage();
    const restore = await failLateParts(page, (route) => route.fulfill({ status: 404, json: {} }));
    let loads = 0;
    page.on('request', (request) => {
      if (request.isNavigationRequest()) loads += 1;
    });
    await page.goto(`${at.system.webs[0]?.url}/console/#/keys`);
    await page.getByRole('alert').waitFor();
    assert.equal(loads, 2);
    restore();
    await press(page, 'Try again');
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    await page.close();
  });

  it('a console whose server restarts says so in one bar, and then shows what has changed meanwhile', async () => {
    const [web] = at.system.webs;
    assert.ok(web);
    const { port } = new URL(web.url);
    await web.stop();
    await tab.locator('.away', { hasText: 'No answer came' }).waitFor();
    assert.equal(await tab.getByRole('alert').count(), 0);
    await at.system.sql(`update facts set text = 'I use spaces.' where text = 'Fact 59'`);
    await at.system.startWeb({ PORT: port });
    await rowWith(tab, 'I use spaces.').waitFor();
    await until(async () => (await tab.locator('.away').textContent()) === '');
  }).timeout(90_000);
});
