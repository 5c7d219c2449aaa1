import assert from 'node:assert/strict';
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import type { Page } from 'playwright-core';
import type { ConnectionDetail } from '../../shared/schemas/connections.ts';
import type { UserClient } from '../support/account.ts';
import { describeInBrowser } from '../support/browser.ts';
import { approve, connectingApp, exchange, startConnection } from '../support/connection.ts';
import { until } from '../support/until.ts';
import {
  clientOf,
  goTo,
  loadSample,
  openRow,
  type Person,
  press,
  rowWith,
  signUpInBrowser,
  useConsole,
} from './visit.ts';

const PROFILE = '/api/memory/profile/';

describeInBrowser('console controls', () => {
  const at = useConsole();

  describe('controls of the console', () => {
    let person: Person;
    let page: Page;

    before(async () => {
      ({ person, page } = await signUpInBrowser(at));
    });

    it('the console\'s button "Skip to the content" moves the focus without changing the page\'s address', async () => {
      await goTo(page, 'Account');
      await page.getByRole('button', { name: 'Skip to the content' }).focus();
      await page.keyboard.press('Enter');
      await page.locator('#content:focus').waitFor();
      assert.equal(new URL(page.url()).hash, '#/account');
    });

    it('the account page of the console shows how many of the tokens of the day are used', async () => {
      await goTo(page, 'Account');
      await page.getByText('0 of 2,000,000 tokens are used').waitFor();
    });

    it('the console focuses its question before revoking a key, and cancelling returns the focus to the button', async () => {
      await goTo(page, 'Keys');
      await press(page, 'New key');
      await page.getByLabel('What it is for').fill('an importer');
      await press(page, 'Issue a key');
      await page.getByText('This is the only time').waitFor();
      await page.keyboard.press('Escape');
      await rowWith(page, 'an importer').hover();
      const revoke = page.getByRole('button', { name: 'Revoke: an importer' });
      await revoke.click();
      await page.locator('dialog[aria-label^="End this key?"]:focus').waitFor();
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await revoke.and(page.locator(':focus')).waitFor();
    });

    it('the console shows when an app was connected, and shows a revoked connection as revoked', async () => {
      const connection = { app_name: 'Editor', created_at: '2026-01-02T10:00:00Z' };
      const results = [
        { ...connection, connection_id: 'one', status: 'connected' },
        { ...connection, connection_id: 'two', status: 'revoked' },
      ];
      await page.route('**/api/connections/', (route) => route.fulfill({ json: { results } }));
      await goTo(page, 'Connections');
      await page.getByText('connected since 2 Jan 2026').waitFor();
      await page.getByText('revoked', { exact: true }).waitFor();
      await page.unroute('**/api/connections/');
    });

    it('the console narrows a connection to projects, and keeps them when the kind of memory is changed', async () => {
      const { system } = at;
      const client = await clientOf(system, person);
      const app = await connectingApp(system);
      const attempt = await startConnection(app);
      const { connection_id } = (await exchange(app, attempt, await approve(system, attempt, client))).body;
      const scope = async () =>
        (await client.get<ConnectionDetail>(`/api/connections/${connection_id}/`)).body.scope;
      // The page may still show what the test before has made up.
      await goTo(page, 'Keys');
      await goTo(page, 'Connections');
      await openRow(page, 'connected since');
      const projects = page.getByLabel(/^Only from these projects/);
      await projects.fill('/home/ada/Engine, shop');
      await projects.press('Tab');
      await until(async () => (await projects.inputValue()) === 'engine, shop');
      await page.getByLabel(/^May use/).selectOption('facts');
      await until(async () => (await scope()).memory === 'facts');
      assert.deepEqual(await scope(), { memory: 'facts', projects: ['engine', 'shop'] });
      await projects.fill('');
      await projects.press('Tab');
      await until(async () => (await scope()).projects === undefined);
    });

    it("a decision on the console's overview updates its section on the threshold, and empties the list of waiting predictions", async () => {
      await goTo(page, 'Bring sessions');
      await loadSample(page);
      const client = await clientOf(at.system, person);
      const asked = {
        agent: 'coder',
        agent_input: 'Shall I run the tests with coverage?',
        k: 3,
        threshold: 1,
      };
      assert.equal((await client.request('POST', '/api/predictions/predict/', asked)).status, 200);
      await goTo(page, 'Overview');
      await page.getByText('You have not decided on any prediction yet.').waitFor();
      await openRow(page, 'waiting');
      await page
        .getByRole('button', { name: /^That is my reply/ })
        .first()
        .click();
      await page.getByText('There are not enough decisions of yours yet to say.').waitFor();
      await press(page, 'Waiting for you');
      await page.getByText('Nothing waits for you.').waitFor();
    });
  });

  describe('profile in the console', () => {
    let page: Page;
    let client: UserClient;

    before(async () => {
      const opened = await signUpInBrowser(at);
      page = opened.page;
      client = await clientOf(at.system, opened.person);
    });

    async function addTo(profile: object, name: string, value: string): Promise<void> {
      await client.request('POST', PROFILE, { summary: '', ...profile });
      await page.goto(`${page.url().replace(/#.*/, '')}#/memory/profile`);
      await page.reload();
      await press(page, 'Add a field');
      await page.getByLabel('Name').last().fill(name);
      await page.getByLabel('Value').last().fill(value);
    }
    async function save(): Promise<object> {
      await press(page, 'Save');
      await page.getByText('Saved.').waitFor();
      return (await client.request<{ data: object; summary: string }>('GET', PROFILE)).body;
    }

    it("the console's profile keeps every digit of a typed number, and stores a typed `true` as a boolean", async () => {
      const data = { answer: '42', tools: ['vim', 1] };
      await addTo({ data }, 'version', '3.10');
      assert.partialDeepStrictEqual(await save(), { data: { ...data, version: '3.10' } });
      await page.getByLabel('Value').last().fill('12345678901234567890');
      assert.partialDeepStrictEqual(await save(), { data: { ...data, version: '12345678901234567890' } });
      await page.getByLabel('Value').last().fill('true');
      assert.partialDeepStrictEqual(await save(), { data: { ...data, version: true } });
    });

    it('the console saves only the changed part of a profile, the summary or the fields', async () => {
      await addTo({ summary: 'Before', data: {} }, 'editor', 'vim');
      await client.request('POST', PROFILE, { summary: 'Written elsewhere' });
      assert.partialDeepStrictEqual(await save(), { summary: 'Written elsewhere', data: { editor: 'vim' } });
      await client.request('POST', PROFILE, { data: { editor: 'emacs' } });
      await page.getByLabel('About you').fill('After');
      assert.partialDeepStrictEqual(await save(), { summary: 'After', data: { editor: 'emacs' } });
    });

    it('the console keeps unsaved changes of a profile while the person is on another page', async () => {
      await addTo({ summary: 'Before', data: {} }, 'editor', 'vim');
      await page.getByRole('link', { name: 'Facts' }).click();
      await page.getByLabel('About you').waitFor({ state: 'detached' });
      await client.request('POST', PROFILE, { summary: 'Written elsewhere' });
      await page.getByRole('link', { name: 'Profile' }).click();
      await page.getByLabel('About you').waitFor();
      assert.partialDeepStrictEqual(await save(), { summary: 'Written elsewhere', data: { editor: 'vim' } });
    });

    it('the console does not save a profile with two fields of one name, and says so', async () => {
      await addTo({ data: { editor: 'vim' } }, ' editor', 'emacs');
      let saves = 0;
      page.on('request', (request) => {
        if (request.method() === 'POST' && request.url().endsWith(PROFILE)) saves += 1;
      });
      await press(page, 'Save');
      await page.getByText('Another field has this name.').waitFor();
      await page.getByLabel('Name').last().fill('shell');
      assert.partialDeepStrictEqual(await save(), { data: { editor: 'vim', shell: 'emacs' } });
      assert.equal(saves, 1);
    });
  });

  describe('interruptions', () => {
    let person: Person;
    let page: Page;

    before(async () => {
      ({ person, page } = await signUpInBrowser(at));
    });
    it('the console renews an expired access token, and repeats the refused request', async () => {
      await goTo(page, 'Account');
      let sent = 0;
      await page.route('**/api/auth/keys/**', async (route, request) => {
        sent += 1;
        if (sent > 1) return route.fallback();
        const headers = await request.allHeaders();
        const authorization = await expire(headers['authorization'] ?? '');
        await route.continue({ headers: { ...headers, authorization } });
      });
      const refusal = page.waitForResponse('**/api/auth/keys/**');
      const renewing = page.waitForResponse('**/console/auth/token/refresh/');
      await goTo(page, 'Keys');
      assert.equal((await renewing).status(), 200);
      await page.getByText('You have no keys.').waitFor();
      assert.equal((await refusal).status(), 401);
      assert.equal(sent, 2);
      await page.unroute('**/api/auth/keys/**');
    });

    function expire(authorization: string): Promise<string> {
      const token = authorization.replace('Bearer ', '');
      const { alg = '', ...header } = decodeProtectedHeader(token);
      return new SignJWT({ ...decodeJwt(token), exp: 1 })
        .setProtectedHeader({ ...header, alg })
        .sign(new TextEncoder().encode(at.system.env['JWT_SECRET']))
        .then((signed) => `Bearer ${signed}`);
    }

    it('an offline console says that no answer came, and loads the page when the connection is back', async () => {
      await person.context.setOffline(true);
      await goTo(page, 'Memory');
      await page.getByText('No answer came.').waitFor();
      assert.equal(await page.getByRole('alert').count(), 0);
      await person.context.setOffline(false);
      await page.getByText('No facts yet.').waitFor();
    });

    for (const step of ['sync', 'promote/facts'])
      it(`the console records its sample person only once even if ${step} fails, and can remove the sample person`, async () => {
        await goTo(page, 'Bring sessions');
        await page.route(`**/api/memory/${step}/`, (route) => route.fulfill({ status: 500, json: {} }));
        await press(page, 'Load the sample person');
        await page.getByRole('alert').waitFor();
        await page.unroute(`**/api/memory/${step}/`);
        const remove = page.getByRole('button', { name: 'Remove the sample person' });
        // Without a sync nothing of the sample person is in memory, so the page offers to load it again.
        if (step === 'sync') await press(page, 'Load the sample person');
        await remove.waitFor();
        const rows = await at.system.sql(
          `select from recording_events where account_id = (select id from accounts where email = $1)`,
          [person.email],
        );
        assert.equal(rows.length, 32);
        await remove.click();
        await page.getByText('The sample person is gone.').waitFor();
      });

    it('the console keeps the person signed in across a restart of the server', async () => {
      const [first] = at.system.webs;
      assert.ok(first);
      const { port } = new URL(first.url);
      await first.stop();
      await goTo(page, 'Keys');
      await page.locator('.away').getByRole('button', { name: 'Try again' }).waitFor();
      await at.system.startWeb({ PORT: port });
      // The page tries again by itself, too.
      await page.getByText('You have no keys.').waitFor();
      await page.reload();
      await page.getByText('You have no keys.').waitFor();
    });
  });
});
