import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import { describeInBrowser, openBrowser } from '../support/browser.ts';
import type { System } from '../support/system.ts';
import { addMany, clientOf, personIn, signUp, startConsole } from './visit.ts';

const ROWS = 2000;
/** Limit for the elements in the page. A card has about twenty. */
const ELEMENTS_MAX = 2000;

describeInBrowser('long list in the console', () => {
  let system: System;
  let browser: Browser;
  before(async function () {
    this.timeout(60_000);
    [system, browser] = await Promise.all([startConsole(), openBrowser()]);
  });
  after(async () => {
    await browser?.close();
    await system?.stop();
  });

  it('a long list in the console can be scrolled to its last row, and keeps only the visible rows in the page', async () => {
    const person = await personIn(browser, system);
    const page = await person.open();
    await signUp(page, person.email);
    await addMany(await clientOf(system, person), ROWS);
    await page.goto(`${page.url().replace(/#.*/, '')}#/memory/raw`);
    await page.getByText(`Row ${ROWS - 1} `).waitFor();
    const last = page.getByText('Row 0 ');
    let most = 0;
    while ((await last.count()) === 0) {
      await page.mouse.wheel(0, 6000);
      most = Math.max(most, await page.evaluate<number>(`document.querySelectorAll('*').length`));
    }
    await last.waitFor();
    assert.ok(most < ELEMENTS_MAX, `${most} elements`);
    assert.deepEqual(person.complaints, []);
  }).timeout(90_000);
});
