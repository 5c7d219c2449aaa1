import assert from 'node:assert/strict';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { faultsOn } from '../support/axe.ts';
import { startBoard } from '../support/board.ts';
import { describeInBrowser, openBrowser } from '../support/browser.ts';
import { type AppClient, predictionBody } from '../support/client.ts';
import { status } from '../support/fake-provider.ts';
import { type System, startSystem } from '../support/system.ts';

const LOOKS = [
  { width: 1440, colorScheme: 'light' },
  { width: 390, colorScheme: 'dark' },
] as const;
const DEFAULT_TIMEOUT_MS = 30_000;

describeInBrowser('board in Chromium', () => {
  let system: System;
  let browser: Browser;
  let app: AppClient;
  let url: string;
  const gone = new AbortController();
  const heldCalls: Promise<unknown>[] = [];
  before(async () => {
    const env = {
      MODEL_PRICES: 'fake-model=0.15:0.6',
      SYNC_EVERY: '*/5 * * * *',
      // Long enough that the hanging calls outlast the tests.
      PREDICTION_TIMEOUT_MS: '600000',
      PROVIDER_TIMEOUT_MS: '600000',
    };
    [system, browser] = await Promise.all([
      startSystem({ webs: 0, workerEntry: ['workers/main.ts', 'all'], env }),
      openBrowser(),
    ]);
    url = `http://127.0.0.1:${await startBoard(system)}/admin/`;
    app = await system.app({ name: 'Notes <b>& letters</b>' });
    for (let n = 0; n < 3; n += 1) await app.predict(predictionBody());
    system.provider.next(status(413));
    await app.predict(predictionBody());
    system.provider.respond(() => {});
    for (let n = 0; n < 4; n += 1)
      heldCalls.push(app.predict(predictionBody(), { signal: gone.signal }).catch(() => undefined));
  });
  after(async () => {
    gone.abort();
    await Promise.all(heldCalls);
    await browser?.close();
    await system?.stop();
  });
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));

  async function signIn(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext(options);
    context.setDefaultTimeout(DEFAULT_TIMEOUT_MS);
    const page = await context.newPage();
    await page.goto(url);
    await page.getByLabel('Token').fill(system.env['ADMIN_TOKEN'] ?? '');
    await page.getByRole('button', { name: 'Open the board' }).click();
    await page.getByRole('heading', { name: 'Pools' }).waitFor();
    return page;
  }

  for (const { width, colorScheme } of LOOKS)
    it(`the board in Chromium, ${width} pixels wide in ${colorScheme} mode, passes the accessibility checks of axe and fits the width`, async () => {
      const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
      const door = await context.newPage();
      await door.goto(url);
      await shoot(door, `door-${width}-${colorScheme}`);
      assert.deepEqual(await faultsOn(door), []);
      const page = await signIn({ viewport: { width, height: 900 }, colorScheme });
      await page.locator('#failures').getByText('provider_failed').waitFor();
      await page.getByText('Live', { exact: true }).waitFor();
      await shoot(page, `board-${width}-${colorScheme}`);
      await check(page);
      await page.locator('#failures a').first().click();
      await page.getByText('admitted, and its unit reserved').waitFor();
      await shoot(page, `timeline-${width}-${colorScheme}`);
      await check(page);
      await page.getByRole('link', { name: 'Forecue board' }).click();
      await page.getByRole('button', { name: 'Drain…' }).click();
      await page.getByRole('heading', { name: 'Drain predict?' }).waitFor();
      await shoot(page, `drain-${width}-${colorScheme}`);
      await check(page);
    });

  async function check(page: Page): Promise<void> {
    assert.deepEqual(await faultsOn(page), []);
    const wide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
    assert.equal(await page.evaluate(wide), false);
  }

  async function shoot(page: Page, name: string): Promise<void> {
    const folder = process.env['SCREENSHOTS'];
    if (folder) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
  }

  it('the board in Chromium shows changes without a reload, and app names as text', async () => {
    const page = await signIn();
    await page.getByText('Notes <b>& letters</b>').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    const other = await signIn();
    await other.getByLabel('Pool', { exact: true }).selectOption('memory');
    await other.getByRole('button', { name: 'Pause' }).click();
    await other.getByText('every worker has noticed').waitFor();
    await page.locator('.pool', { hasText: 'memory' }).getByText('paused').waitFor();
    await other.getByLabel('Pool', { exact: true }).selectOption('memory');
    await other.getByRole('button', { name: 'Resume' }).click();
    await page.locator('.pool', { hasText: 'memory' }).getByText('open').waitFor();
  });

  it('the board in Chromium obeys its content security policy, and its sign-out button returns to the token form', async () => {
    const page = await signIn();
    const faults: string[] = [];
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    page.on('pageerror', ({ message }) => faults.push(message));
    await page.reload();
    await page.getByText('Live', { exact: true }).waitFor();
    assert.deepEqual(faults, []);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
  });
});
