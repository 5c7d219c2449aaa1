import assert from 'node:assert/strict';
import type { Frame, Page } from 'playwright-core';
import { describeInBrowser } from '../support/browser.ts';
import { EDITORS } from '../support/bundle-editor.ts';
import { describeWhere } from '../support/describe-where.ts';
import { ExtendedBrowser } from '../support/extension.ts';
import { type System, startSystem } from '../support/system.ts';
import { openZooPage } from '../support/zoo.ts';
import { SILENT, WORKING, type ZooPage } from '../support/zoo-pages.ts';

/** What a page shows of the suggestion, wherever it keeps its field. */
const GHOST =
  "[...(globalThis.shadow ?? document).querySelectorAll('[data-forecue=ghost]')].map((ghost) => ghost.textContent).join('')";
const TYPED = `globalThis.typed?.() ?? (({ value, innerText }) => (value ?? innerText).replaceAll('\\u00a0', ' ').trimEnd())(
  (globalThis.shadow ?? document).getElementById('field'))`;

describeInBrowser('browser extension in other pages', () => {
  let system: System;
  let browser: ExtendedBrowser;
  before(async () => {
    [system, browser] = await Promise.all([startSystem(), ExtendedBrowser.open()]);
    await browser.signIn(system);
  });
  after(async () => {
    await browser?.[Symbol.asyncDispose]();
    await system?.stop();
  });
  beforeEach(() => system.provider.reset());
  afterEach(() => browser.context.unrouteAll());

  const open = (page: ZooPage) => openZooPage(browser.context, page);
  const frameOf = async (page: Page): Promise<Frame> => {
    const [main, inner] = [page.mainFrame(), page.frames()[1]];
    if (inner === undefined) return main;
    await inner.waitForLoadState();
    return inner;
  };

  for (const [name, zooPage] of Object.entries(WORKING))
    describeWhere(
      !zooPage.isOfOthers || EDITORS !== '',
      name,
      'there are no editors here: set EDITORS',
      () => {
        it(`the browser extension suggests in ${name}, and Tab accepts it`, async () => {
          const page = await open(zooPage);
          const frame = await frameOf(page);
          const field = frame.locator('#field').first();
          if (zooPage.script?.includes('focus()') !== true && !zooPage.isOfOthers) await field.click();
          await frame.waitForFunction(
            'document.activeElement !== document.body || document.body.isContentEditable',
          );
          await page.keyboard.type('Handle it ');
          await frame.waitForFunction(`${GHOST} === 'with care'`);
          await page.keyboard.press('Tab');
          await frame.waitForFunction(`(${TYPED}) === 'Handle it with care'`);
          await page.close();
        });
      },
    );

  for (const [name, body] of Object.entries(SILENT))
    it(`the browser extension reads nothing of ${name}`, async () => {
      const page = await open({ body: `${body}<textarea id="next"></textarea>` });
      const next = page.locator('#next');
      await next.click();
      await page.locator('#next + [role=status]').waitFor({ state: 'attached' });
      await page.locator('#field').click();
      await page.keyboard.type('Secret 1');
      assert.equal(await page.locator('#field + [role=status]').count(), 0);
      await next.click();
      await page.keyboard.type('Handle it ');
      await page.waitForFunction(`${GHOST} === 'with care'`);
      assert.equal(await page.locator('[data-forecue=ghost]').count(), 1);
      assert.ok(!JSON.stringify(system.provider.calls.map(({ body }) => body)).includes('Secret'));
      await page.close();
    });
});
