import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';
import { FAKE_CLIENT, ghost, openPage, waitForSuggestion } from '../support/adapter-behaviours.ts';
import { describeInBrowser, openBrowser } from '../support/browser.ts';
import { bundleForBrowser } from '../support/bundle.ts';

const SOURCE = `
  import { attachCompleter } from './client/src/textarea.ts';
  ${FAKE_CLIENT}
  const field = document.createElement('textarea');
  document.body.append(field);
  attachCompleter(field, client, options);`;

describeInBrowser('on a touched screen', () => {
  let browser: Browser;
  let page: Page;
  before(async () => {
    browser = await openBrowser();
  });
  after(() => browser?.close());
  beforeEach(async () => {
    const phone = await browser.newContext({
      hasTouch: true,
      isMobile: true,
      viewport: { width: 390, height: 800 },
    });
    page = await openPage(phone, await bundleForBrowser(SOURCE));
    await page.locator('textarea').tap();
    await page.keyboard.type('Tea');
    await page.waitForFunction("drafts.at(-1) === 'Tea'");
    await waitForSuggestion(page, ', and so on.');
  });
  afterEach(() => page.context().close());
  const typed = () => page.locator('textarea').inputValue();
  async function assertFocused(): Promise<void> {
    assert.equal(await page.evaluate('document.activeElement.tagName'), 'TEXTAREA');
  }

  it('a tap on a suggestion accepts it, and the keyboard stays', async () => {
    await ghost(page).tap();
    assert.equal(await typed(), 'Tea, and so on.');
    await assertFocused();
  });

  it('a swipe over a suggestion accepts its next word', async () => {
    const box = await ghost(page).boundingBox();
    assert.ok(box);
    const devTools = await page.context().newCDPSession(page);
    const y = box.y + box.height / 2;
    for (const [type, x] of [
      ['touchStart', 5],
      ['touchMove', 30],
      ['touchMove', 50],
      ['touchEnd', 50],
    ] as const)
      await devTools.send('Input.dispatchTouchEvent', {
        type,
        touchPoints: type === 'touchEnd' ? [] : [{ x: box.x + x, y }],
      });
    await page.waitForFunction("document.querySelector('textarea').value === 'Tea,'");
    await assertFocused();
  });

  it('a bar above the keyboard has a chip for the next word and one for each choice', async () => {
    const bar = page.getByRole('toolbar');
    assert.deepEqual(await bar.getByRole('button').allTextContents(), [', …', ', and so on.', 'or coffee.']);
    const box = await bar.boundingBox();
    assert.ok(box && Math.abs(box.y + box.height - 800) < 1 && box.width === 390, JSON.stringify(box));
    await bar.getByRole('button').first().tap();
    assert.equal(await typed(), 'Tea,');
    await bar.getByRole('button', { name: 'and so on.', exact: true }).tap();
    assert.equal(await typed(), 'Tea, and so on.');
    await assertFocused();
  });

  it('the chip of another choice accepts it', async () => {
    await page.getByRole('button', { name: 'or coffee.' }).tap();
    assert.equal(await typed(), 'Tea or coffee.');
    await page.waitForFunction("events.includes('accepted')");
  });
});
