import assert from 'node:assert/strict';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { anonymously, signUp, type UserClient } from '../support/account.ts';
import { describeInBrowser, openBrowser } from '../support/browser.ts';
import { bundleForBrowser } from '../support/bundle.ts';
import { type System, startSystem } from '../support/system.ts';

const SCRIPT = `
  import { createAccountClient } from './client/src/api.ts';
  globalThis.told = [];
  globalThis.client = createAccountClient({
    baseUrl: location.origin,
    storage: localStorage,
    onTokens: (tokens) => told.push(tokens ? 'tokens' : 'nobody'),
  });
  globalThis.call = () => client.readAccount().then(({ email }) => email, ({ code, remedy }) => code + ' ' + remedy);
`;

describeInBrowser('two tabs of a page', () => {
  let system: System;
  let browser: Browser;
  let context: BrowserContext;
  let tabs: Page[];
  let ann: UserClient;
  let renewals: number;
  before(async () => {
    [system, browser] = await Promise.all([startSystem(), openBrowser()]);
  });
  after(() => Promise.all([browser?.close(), system?.stop()]));
  beforeEach(async () => {
    ann = await signUp(system);
    context = await browser.newContext();
    context.setDefaultTimeout(20_000);
    renewals = 0;
    context.on('request', (request) => {
      if (request.url().endsWith('/api/auth/token/refresh/')) renewals += 1;
    });
    await context.clock.install();
    await context.route('**/page', (route) =>
      route.fulfill({ contentType: 'text/html', body: '<!doctype html>' }),
    );
    tabs = await Promise.all([open(), open()]);
    await first().evaluate(`client.logIn(${JSON.stringify({ email: ann.email, password: ann.password })})`);
  });
  afterEach(() => context.close());

  async function open(): Promise<Page> {
    const page = await context.newPage();
    await page.goto(`${ann.url}/page`);
    await page.addScriptTag({ type: 'module', content: await bundleForBrowser(SCRIPT) });
    await page.waitForFunction('globalThis.client');
    return page;
  }
  const first = () => tabs[0] ?? assert.fail();
  const second = () => tabs[1] ?? assert.fail();
  const inBoth = (script: string) => Promise.all(tabs.map((page) => page.evaluate(script)));
  const twice = <T>(one: T) => [one, one];

  it('two tabs of a page log in and out together', async () => {
    await second().waitForFunction("told.join() === 'tokens'");
    assert.deepEqual(await inBoth('call()'), twice(ann.email));
    const { refresh } = JSON.parse(await first().evaluate("localStorage.getItem('forecue.tokens')"));
    await second().evaluate('client.logOut()');
    await first().waitForFunction("told.at(-1) === 'nobody'");
    assert.deepEqual(await inBoth('call()'), twice('not_authenticated authenticate'));
    const { status } = await anonymously(system, 'POST', '/api/auth/token/refresh/', { refresh });
    assert.equal(status, 401);
  });

  it('two tabs of a page renew expired tokens only once', async () => {
    await first().evaluate(`{
      const kept = JSON.parse(localStorage.getItem('forecue.tokens'));
      localStorage.setItem('forecue.tokens', JSON.stringify({ ...kept, access: 'expired' }));
    }`);
    const calls = await inBoth('Promise.all(Array.from({ length: 10 }, call))');
    assert.deepEqual(calls, twice(Array(10).fill(ann.email)));
    assert.equal(renewals, 1);
  });

  it('two tabs of a page renew their tokens only once after the computer has slept', async () => {
    for (const times of [1, 2]) {
      // Simulates a laptop that is closed and opened: due timers fire at once.
      await context.clock.fastForward('51:00');
      assert.deepEqual(await inBoth('call()'), twice(ann.email));
      assert.equal(renewals, times);
    }
  });
});
