import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { findByEmail } from '../../shared/db/stores/accounts.ts';
import { issueToken } from '../../shared/db/stores/log-ins.ts';
import { passwordResetLink } from '../../shared/domain/account.ts';
import { signUp as signUpByApi, someEmail } from '../support/account.ts';
import { describeInBrowser, openBrowser } from '../support/browser.ts';
import { listen } from '../support/listening.ts';
import { type System, startSystem } from '../support/system.ts';
import { type Attempt, ConnectingApp, listenForCallbacks } from './connecting-app.ts';

const PASSWORD = 'a horse with 9 staples';
const PHONE = { width: 390, height: 844 };
const WITHIN_MS = 20_000;
const LOOK_FOR_FAULTS = readFileSync(new URL('look-for-faults.js', import.meta.url), 'utf8');

describeInBrowser('consent page in Chromium', () => {
  let system: System;
  let app: ConnectingApp;
  let browser: Browser;

  before(async () => {
    // Port 1 refuses connections: the pages are the same whether or not mail arrives.
    const env = { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'forecue@example.com' };
    [system, browser] = await Promise.all([startSystem({ workers: 0, env }), openBrowser()]);
    app = await ConnectingApp.register(system);
  });

  after(async () => {
    await browser?.close();
    await app?.[Symbol.asyncDispose]();
    await system?.stop();
  });

  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));

  async function visit({ url }: Pick<Attempt, 'url'>, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({ viewport: PHONE, ...options });
    context.setDefaultTimeout(WITHIN_MS);
    const page = await context.newPage();
    await page.goto(url);
    return page;
  }

  async function signUp(page: Page, email = someEmail()): Promise<string> {
    await page.getByRole('link', { name: 'Create an account' }).click();
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password').fill(PASSWORD);
    await press(page, 'Create account');
    await page.getByRole('heading', { name: 'Allow' }).waitFor();
    return email;
  }

  const press = (page: Page, name: string) => page.getByRole('button', { name }).click();

  async function backAtTheApp(page: Page): Promise<URL> {
    await page.waitForURL(({ pathname }) => pathname === '/callback');
    return new URL(page.url());
  }

  it('a person signs up and approves on the consent page in Chromium, and the app connects', async () => {
    const attempt = await app.start('signs up');
    const page = await visit(attempt);
    const email = await signUp(page);
    assert.equal(await page.title(), 'Allow access – Forecue');
    await page.getByText(email).waitFor();
    await press(page, 'Allow');
    const code = app.check(await backAtTheApp(page), attempt).get('code');
    assert.equal((await app.exchange(attempt, code)).status, 200);
  });

  it('a person signs in and denies on the consent page in Chromium, and the app gets access_denied', async () => {
    const person = await signUpByApi(system);
    const attempt = await app.start('denies');
    const page = await visit(attempt);
    await page.getByLabel('E-mail').fill(person.email);
    await page.getByLabel('Password').fill(person.password);
    await press(page, 'Sign in');
    await press(page, 'Deny');
    const back = await backAtTheApp(page);
    assert.throws(
      () => app.check(back, attempt),
      (error: { error?: string }) => error.error === 'access_denied',
    );
    assert.equal((await app.exchange(attempt, 'x'.repeat(43))).code, 'access_denied');
  });

  it('the consent page in Chromium works without JavaScript', async () => {
    const attempt = await app.start('without JavaScript');
    const page = await visit(attempt, { javaScriptEnabled: false });
    await signUp(page);
    await press(page, 'Allow');
    const code = app.check(await backAtTheApp(page), attempt).get('code');
    assert.equal((await app.exchange(attempt, code)).status, 200);
  });

  it('the consent page in Chromium works with the keyboard alone', async () => {
    const person = await signUpByApi(system);
    const attempt = await app.start('keyboard');
    const page = await visit(attempt);
    await page.keyboard.press('Tab');
    await page.keyboard.type(person.email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(person.password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Allow' }).waitFor();
    const order: string[] = [];
    const nameOfFocused =
      '(({ localName, name, innerText }) => localName === "button" ? innerText : name || innerText)';
    for (let n = 0; n < 7; n += 1) {
      await page.keyboard.press('Tab');
      order.push(String(await page.evaluate(`${nameOfFocused}(document.activeElement)`)));
      const outline = await page.evaluate('getComputedStyle(document.activeElement).outlineWidth');
      assert.equal(outline, '3px');
    }
    assert.deepEqual(order, [
      'Use another account',
      'revoke this at any time',
      'memory',
      'projects',
      'days',
      'Allow',
      'Deny',
    ]);
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    app.check(await backAtTheApp(page), attempt);
  });

  it('a person can switch accounts on the consent page in Chromium, and the app is connected to the second account', async () => {
    const attempt = await app.start('switches');
    const page = await visit(attempt);
    const first = await signUp(page);
    await press(page, 'Use another account');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    const second = await signUp(page);
    assert.equal(await page.getByText(first).count(), 0);
    await press(page, 'Allow');
    const code = app.check(await backAtTheApp(page), attempt).get('code');
    await app.exchange(attempt, code);
    const rows = await system.sql(
      `select a.email from connections c join accounts a on a.id = c.account_id where c.user_id = 'switches'`,
    );
    assert.deepEqual(rows, [{ email: second }]);
  });

  it('after a wrong password, the consent page shows an error, keeps the e-mail address and focuses its field', async () => {
    const page = await visit(await app.start());
    await page.getByLabel('E-mail').fill('mira@example.com');
    await page.getByLabel('Password').fill('not the password');
    await press(page, 'Sign in');
    const alert = page.getByRole('alert');
    await alert.waitFor();
    const email = page.getByLabel('E-mail');
    assert.equal(await email.inputValue(), 'mira@example.com');
    assert.equal(await page.getByLabel('Password').inputValue(), '');
    assert.equal(await email.getAttribute('aria-describedby'), await alert.getAttribute('id'));
    assert.equal(await page.locator(':focus').getAttribute('id'), 'email');
  });

  it("the consent page in Chromium lets the app's callback redirect the browser to another origin", async () => {
    await using elsewhere = await listenForCallbacks();
    const onward = `${elsewhere.url.replace('127.0.0.1', 'localhost')}/home`;
    await using redirecting = await ConnectingApp.register(system, { onward });
    for (const button of ['Allow', 'Deny']) {
      const attempt = await redirecting.start(button);
      const page = await visit(attempt);
      await signUp(page);
      await press(page, button);
      await page.waitForURL(onward);
      assert.equal(redirecting.returned.at(-1)?.searchParams.get('state'), attempt.state);
    }
  });

  it('going back to the consent page in Chromium after a decision shows that the request was already answered', async () => {
    const attempt = await app.start('goes back');
    const page = await visit(attempt);
    await signUp(page);
    await press(page, 'Allow');
    await backAtTheApp(page);
    await page.goBack();
    await page.getByRole('heading', { name: 'This request was already answered' }).waitFor();
  });

  it('the consent page in Chromium is not shown in a frame', async () => {
    const { url } = await app.start();
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(`<iframe src="${url}"></iframe>`);
    });
    await using framing = await listen(server);
    const page = await (await browser.newContext()).newPage();
    const refusal = page.waitForEvent('console', (message) => /frame-ancestors/.test(message.text()));
    await page.goto(framing.url);
    await refusal;
    assert.equal(await page.frameLocator('iframe').getByText('Forecue').count(), 0);
  });

  it('a forgotten password can be replaced without JavaScript, and the address bar shows no reset token', async () => {
    const person = await signUpByApi(system);
    const account = await findByEmail(system.em(), person.email);
    assert.ok(account);
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await visit(await app.start(), { colorScheme });
      const opening = page.waitForEvent('popup');
      await page.getByRole('link', { name: 'Forgot your password?' }).click();
      const forgotten = await opening;
      await forgotten.getByRole('heading', { name: 'Forgot your password?' }).waitFor();
      await assertAccessible(forgotten);
      await forgotten.getByLabel('E-mail').fill(person.email);
      await press(forgotten, 'Mail me a link');
      await forgotten.getByText(person.email).waitFor();
      await assertAccessible(forgotten);
    }
    const token = (await issueToken(system.em(), 'password_resets', account))?.token;
    const link = passwordResetLink(system.webs[0]?.url ?? '', token ?? '');
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await visit({ url: link }, { colorScheme });
      assert.match(page.url(), /\/connect\/new-password$/);
      await page.getByLabel('Password', { exact: true }).fill('short');
      await press(page, 'Save the new password');
      await page.getByRole('alert').waitFor();
      await assertAccessible(page);
      await assertFits(page);
    }
    const page = await visit({ url: link }, { javaScriptEnabled: false });
    await page.getByLabel('Password', { exact: true }).fill(`${PASSWORD}!`);
    await press(page, 'Save the new password');
    await page.getByRole('heading', { name: 'Your password is changed' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'This link has ended' }).waitFor();
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`the consent page in Chromium is readable and labelled in ${colorScheme} mode, and obeys its content security policy`, async () => {
      const attempt = await app.start();
      const page = await visit(attempt, { colorScheme });
      const refused: string[] = [];
      page.on('console', (message) => {
        if (/Content Security Policy/.test(message.text())) refused.push(message.text());
      });
      await page.getByLabel('E-mail').fill('nobody');
      await page.getByLabel('Password').fill('x');
      await press(page, 'Sign in');
      await page.getByRole('alert').waitFor();
      await assertAccessible(page);
      await page.goto(`${attempt.url}?view=sign-up`);
      await assertAccessible(page);
      await page.goto(attempt.url);
      await signUp(page);
      await assertAccessible(page);
      await press(page, 'Deny');
      await backAtTheApp(page);
      await page.goto(attempt.url);
      await assertAccessible(page);
      assert.deepEqual(refused, []);
    });
  }

  it('the consent page in Chromium fits a width of 320 pixels, even with doubled text and extremely long names', async () => {
    const name = `${'W'.repeat(120)}\u202Egnp.exe <b>&amp;</b> ${'i'.repeat(50)}`;
    await using long = await ConnectingApp.register(system, { name });
    const attempt = await long.start();
    const page = await visit(attempt, { viewport: { width: 320, height: 640 } });
    await assertFits(page);
    await signUp(page, `${'m'.repeat(180)}@${'example'.repeat(3)}.com`);
    await assertFits(page);
    // Doubles only the text. A zoom of 200 % would also halve the viewport.
    await page.evaluate("document.documentElement.style.fontSize = '200%'");
    await assertFits(page);
    assert.equal(await page.getByRole('heading', { level: 1 }).locator('b').count(), 0);
  });
});

async function assertFits(page: Page): Promise<void> {
  const root = 'document.documentElement';
  const surplus = await page.evaluate<number>(`${root}.scrollWidth - ${root}.clientWidth`);
  assert.ok(surplus <= 0, `${surplus} pixels too wide`);
}

/** Asserts that the page has no visible faults: see `look-for-faults.js`. */
async function assertAccessible(page: Page): Promise<void> {
  assert.deepEqual(await page.evaluate<string[]>(LOOK_FOR_FAULTS), [], page.url());
}
