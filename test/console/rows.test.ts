import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { UserClient } from '../support/account.ts';
import { describeInBrowser } from '../support/browser.ts';
import { permissionEvent } from '../support/permissions.ts';
import { until } from '../support/until.ts';
import { clientOf, goTo, personIn, rowWith, signUp, signUpInBrowser, useConsole } from './visit.ts';

const FACTS = 40;

describeInBrowser('rows and keys of the console', () => {
  const at = useConsole();
  let page: Page;
  let client: UserClient;

  before(async () => {
    const { person, page: opened } = await signUpInBrowser(at);
    page = opened;
    client = await clientOf(at.system, person);
    const facts = Array.from({ length: FACTS }, (_, nth) => ({ text: `Fact ${nth}`, pinned: nth === 3 }));
    assert.equal((await client.request('POST', '/api/memory/facts/', facts)).status, 201);
  });

  it('the keys g and m lead to the memory, which shows 18 facts or more on a screen, in rows of 36 to 44 pixels', async () => {
    await page.keyboard.type('gm');
    const rows = page.locator('.a-row');
    await rows.first().waitFor();
    const boxes = await Promise.all((await rows.all()).slice(0, 18).map((row) => row.boundingBox()));
    assert.ok(boxes.every((box) => box !== null && box.height >= 36 && box.height <= 44));
    const last = boxes.at(-1);
    assert.ok(last && last.y + last.height <= 900, JSON.stringify(last));
    assert.match((await rows.first().textContent()) ?? '', /pinned.*Fact 3/);
  });

  it('facts selected by keyboard are forgotten together, with one receipt', async () => {
    await page.locator('.a-row .main').first().focus();
    for (const key of ['j', 'x', 'j', 'x', 'ArrowDown', 'x']) await page.keyboard.press(key);
    await page.getByText('3 selected').waitFor();
    await page.getByRole('toolbar').getByRole('button', { name: 'Forget' }).press('Enter');
    await page.getByRole('dialog', { name: /^Forget these 3/ }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('3 forgotten.').waitFor();
    // The keys go on with the row that is now in their place.
    await page.keyboard.press('x');
    await page.getByText('1 selected').waitFor();
    await page.keyboard.press('Escape');
    const { rows } = await at.system.database.pool.query('select count(*)::int as count from facts');
    assert.deepEqual(rows, [{ count: FACTS - 3 }]);
  });

  it('an opened row is in the address of the console, and Back and Escape close it', async () => {
    await page.getByText('Fact 7', { exact: true }).click();
    const pane = page.locator('dialog.pane');
    await pane.waitFor();
    const address = page.url();
    await page.goBack();
    await pane.waitFor({ state: 'detached' });
    await page.goto(address);
    await pane.getByText('Fact 7', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await pane.waitFor({ state: 'detached' });
  });

  it("the console's palette leads to a page and to a fact, and the key ? lists the keys", async () => {
    await page.keyboard.press('Control+k');
    await page.keyboard.type('Keys');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    await page.keyboard.press('/');
    await page.getByRole('combobox').fill('Fact 9');
    await page.getByRole('option', { name: 'Fact 9', exact: true }).click();
    await page.locator('dialog.pane').getByText('Fact 9', { exact: true }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('Fact 8');
    await page.getByRole('option', { name: 'Fact 8', exact: true }).click();
    await page.locator('dialog.pane').getByText('Fact 8', { exact: true }).waitFor();
    const search = page.getByRole('searchbox');
    assert.equal(await search.inputValue(), 'Fact 8');
    const { promise: isOver, resolve: release } = Promise.withResolvers<void>();
    await page.route('**/api/memory/facts/?*', (route) => isOver.then(() => route.continue()));
    await page.goBack();
    await until(async () => (await search.inputValue()) === 'Fact 9');
    await page.keyboard.press('?');
    const list = page.getByRole('dialog', { name: 'Keys on the keyboard' });
    await list.getByText('this list').waitFor();
    // A pane that opens behind the list leaves it the focus.
    release();
    await page.locator('dialog.pane').getByText('Fact 9', { exact: true }).waitFor();
    await page.unroute('**/api/memory/facts/?*');
    await page.keyboard.press('Escape');
    await list.waitFor({ state: 'detached' });
  });

  it("the console's timeline names a session without messages by its project, its agent and the number of decisions", async () => {
    const permission = { session_id: 'only-decisions', source: 'codex', project: '/home/ada/site' };
    const events = [
      permissionEvent('npm test', 'allowed', permission),
      permissionEvent('git push', 'refused', permission),
      { ...permissionEvent('', 'allowed', permission), type: 'session.started', session_id: 'empty' },
    ];
    assert.equal((await client.post('/api/recording/events/', events)).status, 201);
    await goTo(page, 'Memory');
    await page.getByRole('link', { name: 'Timeline' }).click();
    await rowWith(page, 'site · codex · 2 decisions').waitFor();
    await rowWith(page, 'site · codex · no messages').waitFor();
  });

  it('a text from right to left that is too long for its row in the console shows its beginning', async () => {
    const text = 'אני שותה תה '.repeat(20);
    assert.equal((await client.post('/api/memory/facts/', { text })).status, 201);
    await page.getByRole('link', { name: 'Facts' }).click();
    const row = rowWith(page, text.trim());
    await row.waitFor();
    const isShown = await page.evaluate<boolean>(`(() => {
      const box = [...document.querySelectorAll('.a-row .text')].find((one) => one.textContent.startsWith('אני'));
      const first = document.createRange();
      first.setStart(box.firstChild.firstChild, 0);
      first.setEnd(box.firstChild.firstChild, 1);
      return first.getBoundingClientRect().right <= box.getBoundingClientRect().right + 1;
    })()`);
    assert.ok(isShown, 'its first letter is cut off');
  });

  it("the console's open tab is whole in the window of a phone, even when the counts of the other tabs arrive late", async () => {
    const phone = await personIn(at, { viewport: { width: 390, height: 844 } });
    const tab = await phone.open();
    await signUp(tab, phone.email);
    const { promise: isShown, resolve: release } = Promise.withResolvers<void>();
    await tab.route('**/api/memory/stats/', async (route) => {
      await isShown;
      await route.continue();
    });
    await goTo(tab, 'Memory');
    await tab.getByRole('link', { name: 'Timeline' }).click();
    const open = tab.locator('.tabs [aria-current]', { hasText: 'Timeline' });
    await open.waitFor();
    release();
    await tab.locator('.tabs .count').nth(2).waitFor();
    await until(async () => {
      const [nav, link] = await Promise.all([tab.locator('.tabs nav').boundingBox(), open.boundingBox()]);
      return nav && link && link.x >= nav.x && link.x + link.width <= nav.x + nav.width + 1;
    });
  });
});
