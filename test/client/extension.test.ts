import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { Page } from 'playwright-core';
import { signUp, type UserClient } from '../support/account.ts';
import { faultsOn } from '../support/axe.ts';
import { describeInBrowser } from '../support/browser.ts';
import { ExtendedBrowser } from '../support/extension.ts';
import { hang, ok } from '../support/fake-provider.ts';
import { type ListeningServer, listen } from '../support/listening.ts';
import { addFact } from '../support/memory.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

/** The page lets nothing in, and says more than its field. */
const POLICY = "default-src 'none'";
const PAGE = '<!doctype html><title>Private title</title><p>Private text</p><textarea></textarea>';

describeInBrowser('browser extension', () => {
  let system: System;
  let browser: ExtendedBrowser;
  let site: ListeningServer;
  let ann: UserClient;
  before(async () => {
    [system, browser, site] = await Promise.all([
      startSystem(),
      ExtendedBrowser.open(),
      listen(
        createServer((_, response) => {
          response
            .writeHead(200, { 'content-type': 'text/html', 'content-security-policy': POLICY })
            .end(PAGE);
        }),
      ),
    ]);
  });
  after(async () => {
    await browser?.[Symbol.asyncDispose]();
    await Promise.all([site?.close(), system?.stop()]);
  });
  beforeEach(async () => {
    system.provider.reset();
    ann = await signUp(system);
  });
  afterEach(async () => {
    await browser.worker.evaluate('chrome.storage.local.clear()');
    for (const page of browser.context.pages().slice(1)) await page.close();
  });

  const grants = async () =>
    (await ann.get<{ results: { id: string; client_name: string; scopes: string[] }[] }>('/api/auth/grants/'))
      .body.results;
  const ghost = (page: Page) => page.locator('[data-forecue=ghost]');
  const waitForGhost = (page: Page, text = 'with care') => ghost(page).filter({ hasText: text }).waitFor();
  const visit = async () => {
    const page = await browser.context.newPage();
    await page.goto(`${site.url}/private-address`);
    return page;
  };
  const type = async (page: Page, text: string) => {
    await page.locator('textarea').focus();
    await page.keyboard.type(text);
  };

  it("the extension is let in by its person, and predicts from their memory with nothing but the field's text", async () => {
    await addFact(system, ann, { text: 'I always drink green tea', pinned: true });
    await browser.signIn(system, ann);
    assert.deepEqual(
      (await grants()).map(({ client_name, scopes }) => [client_name, scopes]),
      [['Forecue in this browser', ['predict']]],
    );
    const page = await visit();
    await type(page, 'I drink green ');
    await waitForGhost(page);
    const { body, record } = await system.provider.called(1);
    assert.equal(record.draft, 'I drink green ');
    assert.ok(JSON.stringify(record).includes('I always drink green tea'));
    assert.doesNotMatch(JSON.stringify(body), /private/i);
  });

  it('an extension that is denied has no tokens, says so, and suggests nothing', async () => {
    await browser.context.clearCookies();
    await browser.choose((system.webs[0]?.url ?? '').replace('127.0.0.1', 'localhost'));
    const asking = await browser.beginSignIn();
    await asking.getByLabel('E-mail').fill(ann.email);
    await asking.getByLabel('Password').fill(ann.password);
    await asking.getByRole('button', { name: 'Sign in' }).click();
    await browser.answer(asking, 'Deny');
    await browser.closeOwn((popup) => popup.getByRole('alert').filter({ hasText: 'did not work' }));
    assert.equal((await browser.readSettings()).grant ?? null, null);
    const page = await visit();
    await type(page, 'Handle it ');
    assert.equal(await page.locator('[role=status]').count(), 0);
  });

  it('no script in a page gets what the extension keeps, not even its own there', async () => {
    await browser.signIn(system, ann);
    const page = await visit();
    const devTools = await browser.context.newCDPSession(page);
    const worlds: { id: number; origin: string }[] = [];
    devTools.on('Runtime.executionContextCreated', ({ context }) => worlds.push(context));
    await devTools.send('Runtime.enable');
    const own = await until(() => worlds.find(({ origin }) => origin.startsWith('chrome-extension://')));
    const read = (contextId?: number) =>
      devTools.send('Runtime.evaluate', {
        expression: 'chrome.storage.local.get().then(JSON.stringify, String)',
        awaitPromise: true,
        ...(contextId !== undefined && { contextId }),
      });
    assert.match(String((await read(own.id)).result.value), /Access to storage is not allowed/);
    assert.notEqual((await read()).exceptionDetails, undefined);
  });

  it('a site that the person turns off gets no suggestions, and its text stays, until they turn it on', async () => {
    await browser.signIn(system, ann);
    const page = await visit();
    await type(page, 'Handle it ');
    await waitForGhost(page);
    const popup = await browser.openOwn('popup', page);
    const here = popup.getByLabel(`Suggest on ${new URL(site.url).host}`);
    assert.equal(await here.isChecked(), true);
    await here.uncheck();
    await page.locator('[role=status]').waitFor({ state: 'detached' });
    await page.locator('textarea').fill('');
    await type(page, 'My secret ');
    await here.check();
    await page.locator('[role=status]').waitFor({ state: 'attached' });
    await page.locator('textarea').fill('');
    await type(page, 'Handle it ');
    await waitForGhost(page);
    assert.ok(system.provider.calls.every(({ record }) => !record.draft.startsWith('My secret')));
  });

  it('the options list the sites that are off, and turn them on again', async () => {
    await browser.worker.evaluate("chrome.storage.local.set({ sitesOff: ['a.example', 'b.example'] })");
    const options = await browser.openOwn('options');
    await options.getByRole('button', { name: 'Turn on again: a.example' }).click();
    await options.getByRole('button', { name: 'a.example' }).waitFor({ state: 'detached' });
    assert.deepEqual((await browser.readSettings()).sitesOff, ['b.example']);
  });

  it('signing out ends the grant at the server, and suggestions in all pages', async () => {
    await browser.signIn(system, ann);
    const page = await visit();
    await type(page, 'Handle it ');
    await waitForGhost(page);
    const popup = await browser.openOwn('popup');
    await popup.getByRole('button', { name: 'Sign out' }).click();
    await popup.getByText('Not signed in').waitFor();
    await page.locator('[role=status]').waitFor({ state: 'detached' });
    await until(async () => (await grants()).length === 0);
    assert.equal((await browser.readSettings()).grant, null);
  });

  it('an expired access token is renewed, each time with the latest refresh token', async () => {
    await browser.signIn(system, ann);
    const page = await visit();
    const refreshTokens = new Set<string>();
    for (const text of ['Handle it ', 'Take it ', 'Send it ']) {
      const { grant } = await browser.readSettings();
      refreshTokens.add(grant?.['refresh'] ?? '');
      await browser.worker.evaluate((grant) => Object(globalThis).chrome.storage.local.set({ grant }), {
        ...grant,
        access: 'expired',
      });
      await page.locator('textarea').fill('');
      await type(page, text);
      await waitForGhost(page);
    }
    assert.equal(refreshTokens.size, 3);
  });

  it('an extension that its person ends in the console is signed out at its next call, and marks its button', async () => {
    await browser.signIn(system, ann);
    const page = await visit();
    await type(page, 'Handle it ');
    await waitForGhost(page);
    const [grant] = await grants();
    await ann.request('DELETE', `/api/auth/grants/${grant?.id}/`);
    const isMarked = async () => (await browser.worker.evaluate('chrome.action.getBadgeText({})')) === '!';
    assert.equal(await isMarked(), false);
    await until(async () => {
      await page.keyboard.type('x');
      await Promise.race([waitForGhost(page), until(isMarked)]);
      return isMarked();
    });
    await page.locator('[role=status]').waitFor({ state: 'detached' });
    assert.equal((await browser.readSettings()).grant, null);
  });

  it('the latest keystroke wins: the call for an older draft is cancelled, through the worker and the server', async () => {
    await browser.signIn(system, ann);
    const page = await visit();
    system.provider.respond(hang());
    await type(page, 'Handle');
    const older = await system.provider.called(1);
    system.provider.respond(ok({ continuation: ' with care' }));
    await page.keyboard.press('Backspace');
    await page.keyboard.type('e it');
    await older.aborted;
    await waitForGhost(page);
    assert.equal(system.provider.calls.at(-1)?.record.draft, 'Handle it');
  });

  it('a page that is closed cancels its call', async () => {
    await browser.signIn(system, ann);
    const page = await visit();
    system.provider.respond(hang());
    await type(page, 'Handle it ');
    const call = await system.provider.called(1);
    await page.close();
    await call.aborted;
  });

  it('the pages of the extension have no faults that axe finds, signed out and in', async () => {
    const look = async () => {
      for (const name of ['popup', 'options'] as const) {
        const page = await browser.openOwn(name, await visit());
        await page.getByText(name === 'popup' ? 'Settings' : 'What leaves').waitFor();
        assert.deepEqual(await faultsOn(page), []);
        await page.close();
      }
    };
    await look();
    await browser.signIn(system, ann);
    await look();
  });
});
