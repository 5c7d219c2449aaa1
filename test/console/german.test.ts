import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { de } from '../../client/console/strings/de.ts';
import { en } from '../../client/console/strings/en.ts';
import { describeInBrowser } from '../support/browser.ts';
import { until } from '../support/until.ts';
import { personIn, useConsole } from './visit.ts';

const PASSWORD = 'a horse with 9 staples';

/** Every text of the language that is no function, by its place. */
function textsOf(strings: object, place = ''): [place: string, text: string][] {
  return Object.entries(strings).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string'
      ? [[`${place}.${name}`, value]]
      : value !== null && typeof value === 'object'
        ? textsOf(value, `${place}.${name}`)
        : [],
  );
}

const german = new Map(textsOf(de));
/** English texts that German does not share. */
const ENGLISH = new Set(
  textsOf(en).flatMap(([place, text]) => (german.get(place) === text || text.length < 4 ? [] : text)),
);
/** Words of the page's own texts and names, which are not what a person or an agent wrote. */
const SEEN_SCRIPT = `(() => {
  const seen = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) seen.push(walker.currentNode.nodeValue.trim());
  for (const element of document.querySelectorAll('[aria-label], [title], [placeholder]'))
    for (const name of ['aria-label', 'title', 'placeholder']) seen.push(element.getAttribute(name) ?? '');
  return seen;
})()`;

/** Numbers of lines of the visible names in the bar at the bottom of a phone. */
const LINES_SCRIPT = `Array.from(document.querySelectorAll('header nav a, header nav .more'), (link) => {
  const range = document.createRange();
  range.selectNodeContents([...link.childNodes].find((node) => node.nodeType === Node.TEXT_NODE));
  return range.getClientRects().length;
}).filter((lines) => lines > 0)`;

describeInBrowser('console in German', () => {
  const at = useConsole();

  async function assertGerman(page: Page, what: string): Promise<void> {
    const seen = await page.evaluate<string[]>(SEEN_SCRIPT);
    assert.deepEqual(
      seen.filter((text) => ENGLISH.has(text) || /^(Input|String|Field|Extra) /.test(text)),
      [],
      what,
    );
  }

  it('no page of the console in German, and no fault of a field, has English words', async () => {
    const person = await personIn(at, { locale: 'de-DE' });
    const page = await person.open();
    await page.getByRole('button', { name: de.enter.signUp }).click();
    await page.getByLabel(de.enter.email).fill(person.email);
    await page.getByLabel(de.enter.password).fill('short');
    await page.getByRole('button', { name: de.enter.signUp }).click();
    await page.getByText(de.faults.string_too_short('10')).waitFor();
    await page.getByLabel(de.enter.password).fill('password123');
    await page.getByRole('button', { name: de.enter.signUp }).click();
    await page.getByText(de.faults.password()).waitFor();
    await assertGerman(page, 'signing up');
    await page.getByLabel(de.enter.password).fill(PASSWORD);
    await page.getByRole('button', { name: de.enter.signUp }).click();
    await page.getByRole('button', { name: de.start.loadSample }).click();
    await page.getByRole('button', { name: de.start.removeSample }).waitFor();
    await assertGerman(page, 'bringing sessions');
    const pane = page.locator('dialog.pane');
    for (const path of [
      'inbox',
      'decisions',
      'memory/facts',
      'memory/episodes',
      'memory/raw',
      'memory/timeline',
      'memory/profile',
      'overview',
      'try',
      'connections',
      'keys',
      'account',
    ]) {
      await page.goto(`${page.url().replace(/#.*/, '')}#/${path}`);
      await page.locator(`[aria-current=page][href^="#/${path}"]`).waitFor();
      await page.locator('h1').waitFor();
      await until(async () => (await page.locator('main .skeleton').count()) === 0);
      await assertGerman(page, path);
      const row = page.locator('.a-row .main').first();
      if ((await row.count()) === 0) continue;
      await row.click();
      await pane.waitFor();
      await pane.locator('.skeleton').waitFor({ state: 'detached' });
      await assertGerman(page, `${path}, opened`);
      await page.keyboard.press('Escape');
      await pane.waitFor({ state: 'detached' });
    }
    await page.setViewportSize({ width: 390, height: 844 });
    const lines = await page.evaluate<number[]>(LINES_SCRIPT);
    assert.deepEqual(new Set(lines), new Set([1]), `words of the bar at the bottom are broken: ${lines}`);
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    await assertGerman(page, 'the keys');
    assert.deepEqual(
      person.complaints.filter((one) => !one.includes('422')),
      [],
    );
  }).timeout(90_000);
});
