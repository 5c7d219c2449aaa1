import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { addMany, clientOf, openRow, press, signUpInBrowser, useConsole } from '../console/visit.ts';
import { describeInBrowser } from '../support/browser.ts';

const ROWS = 2000;
/** A row has about ten elements. */
const ELEMENTS_MAX = 1200;

/** The pinned facts, which are loaded with the first page. */
const PINNED_FACTS = /\/api\/memory\/facts\/.*[?&]pinned=true/;
const FURTHER_PAGE = /\/api\/memory\/.*[?&]cursor=/;

/** Lets the page show what it has received, and request what it then needs. */
const settle = (page: Page) =>
  page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');

describeInBrowser('long list in the console', () => {
  const at = useConsole();
  it(`a console list of ${ROWS} rows scrolls to its end with fewer than ${ELEMENTS_MAX} elements in the page`, async () => {
    const { person, page } = await signUpInBrowser(at);
    await addMany(await clientOf(at.system, person), ROWS);
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

  async function openList(tier: 'raw' | 'facts', rows: object[]): Promise<Page> {
    const { person, page } = await signUpInBrowser(at);
    const client = await clientOf(at.system, person);
    assert.equal((await client.request('POST', `/api/memory/${tier}/`, rows)).status, 201);
    await page.goto(`${page.url().replace(/#.*/, '')}#/memory/${tier}`);
    await page.locator('.rows > li').first().waitFor();
    return page;
  }
  const rawRows = (count: number) =>
    Array.from({ length: count }, (_, nth) => ({ content: `Row ${nth} of the list` }));

  it('after rows fail to load, the console requests the rows again only when the person presses "Try again"', async () => {
    const page = await openList('raw', rawRows(150));
    let asked = 0;
    let isDown = true;
    await page.route(FURTHER_PAGE, (route) => {
      asked += 1;
      if (!isDown) return route.continue();
      return route.fulfill({ status: 500, json: { detail: { code: 'internal_error', message: 'No.' } } });
    });
    await page.locator('[aria-setsize="-1"]').first().waitFor();
    const again = page.getByRole('button', { name: 'Try again' });
    while ((await again.count()) === 0) await page.mouse.wheel(0, 6000);
    await settle(page);
    assert.equal(asked, 1);
    isDown = false;
    await again.click();
    await page.locator('[aria-setsize="150"]').first().waitFor();
    assert.equal(asked, 2);
  }).timeout(60_000);

  it('a search in the console shows only its results, even if rows requested before the search arrive later', async () => {
    const page = await openList('raw', [{ content: 'A needle' }, ...rawRows(150)]);
    const { promise: found, resolve: release } = Promise.withResolvers<void>();
    await page.route(FURTHER_PAGE, async (route) => {
      await found;
      await route.continue();
    });
    const asked = page.waitForRequest(FURTHER_PAGE);
    await page.mouse.wheel(0, 60_000);
    const further = (await asked).response();
    await page.getByRole('search').getByRole('searchbox').fill('needle');
    await page.keyboard.press('Enter');
    await page.locator('[aria-setsize="1"]').waitFor();
    release();
    await (await further)?.finished();
    await settle(page);
    assert.equal(await page.locator('.rows > li').count(), 1);
  }).timeout(60_000);

  it('a fact at the end of a long list in the console keeps its place when corrected and pinned, and is first once the list has loaded again', async () => {
    const page = await openList(
      'facts',
      Array.from({ length: 120 }, (_, nth) => ({ text: `Fact ${nth}` })),
    );
    const last = page.locator('[aria-posinset="120"]');
    while ((await last.count()) === 0) await page.mouse.wheel(0, 6000);
    // The list loads again at each change, and a load may end at any time after it.
    const { promise: isAwaited, resolve: release } = Promise.withResolvers<void>();
    await page.route(PINNED_FACTS, async (route) => {
      await isAwaited;
      await route.continue();
    });
    const pane = await openRow(page, 'Fact 0');
    await pane.getByRole('button', { name: 'Correct' }).click();
    await pane.getByRole('textbox').fill('Fact of a new kind');
    await pane.getByRole('button', { name: 'Save' }).click();
    await last.getByText('Fact of a new kind').waitFor();
    await last.hover();
    await last.getByRole('button', { name: /^Pin: / }).click();
    await last.getByText('pinned').waitFor();
    assert.equal(await last.getAttribute('aria-setsize'), '120');
    release();
    const first = page.locator('[aria-posinset="1"]');
    while ((await first.count()) === 0) await page.mouse.wheel(0, -6000);
    await first.getByText('Fact of a new kind').waitFor();
  }).timeout(60_000);

  it('unsaved text in a search or a correction in the console survives scrolling and learning', async () => {
    const page = await openList(
      'facts',
      Array.from({ length: 120 }, (_, nth) => ({ text: `Fact ${nth}` })),
    );
    const search = page.getByRole('search').getByRole('searchbox');
    await search.fill('Half a wo');
    const first = page.locator('[aria-posinset="1"]');
    const pane = await openRow(page, 'Fact 119');
    await pane.getByRole('button', { name: 'Correct' }).click();
    await pane.getByRole('textbox').fill('Half a sentence');
    await page.keyboard.press('Escape');
    const last = page.locator('[aria-posinset="120"]');
    while ((await last.count()) === 0) await page.mouse.wheel(0, 6000);
    assert.equal(await first.count(), 0);
    while ((await first.count()) === 0) await page.mouse.wheel(0, -6000);
    const listed = page.waitForResponse('**/api/memory/facts/?**');
    await press(page, 'Learn now');
    await (await listed).finished();
    await settle(page);
    await openRow(page, 'Fact 119');
    assert.equal(await pane.getByRole('textbox').inputValue(), 'Half a sentence');
    assert.equal(await search.inputValue(), 'Half a wo');
  }).timeout(60_000);
});
