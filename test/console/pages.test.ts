import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { faultsOn } from '../support/axe.ts';
import { describeInBrowser } from '../support/browser.ts';
import { goTo, loadSample, type Person, personIn, press, signUp, useConsole } from './visit.ts';

const PHONE = { width: 390, height: 844 };
const DESKTOP = { width: 1440, height: 900 };
const LOOKS = [
  { colorScheme: 'light', size: DESKTOP },
  { colorScheme: 'dark', size: PHONE },
] as const;
const PAGES = ['First minute', 'Try it', 'Inbox', 'Memory', 'Overview', 'Connections', 'Keys', 'Account'];

describeInBrowser('console pages', () => {
  const at = useConsole();
  let person: Person;
  let page: Page;

  before(async function () {
    this.timeout(60_000);
    person = await personIn(at);
    page = await person.open();
  });

  async function assertAccessible(what: string): Promise<void> {
    for (const { colorScheme, size } of LOOKS) {
      await page.setViewportSize(size);
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await faultsOn(page), [], `${what} ${colorScheme}`);
      const surplus = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      assert.ok((await page.evaluate<number>(surplus)) <= 0, `${what} is too wide`);
    }
  }

  it("the console's empty pages pass axe's accessibility checks and fit the window of a desktop and a phone", async () => {
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await assertAccessible('signing in');
    await signUp(page, person.email);
    for (const name of PAGES) {
      await goTo(page, name);
      await page.getByRole('main').locator('.skeleton').first().waitFor({ state: 'detached' });
      await assertAccessible(`${name}, empty`);
    }
  }).timeout(60_000);

  it("the console's filled pages pass axe's accessibility checks and fit the window of a desktop and a phone", async () => {
    await goTo(page, 'First minute');
    await loadSample(page);
    await goTo(page, 'Try it');
    await press(page, 'Predict my reply');
    await page
      .getByRole('button', { name: /^That is my reply/ })
      .first()
      .click();
    await page.getByText('Accepted.').waitFor();
    await assertAccessible('a prediction');
    await goTo(page, 'Overview');
    await page.getByRole('img', { name: 'Stated against observed' }).waitFor();
    for (const table of await page.getByText('The numbers in a table').all()) await table.click();
    await assertAccessible('the overview, with its tables');
    await goTo(page, 'Memory');
    await page.getByText('Why do you think that?').first().click();
    await page
      .getByRole('button', { name: /^Forget: / })
      .first()
      .click();
    await assertAccessible('a fact');
    for (const tab of ['Profile', 'Timeline']) {
      await page.getByRole('link', { name: tab }).click();
      await (tab === 'Profile'
        ? page.getByText('Add a field')
        : page.locator('.timeline summary').first()
      ).click();
      await assertAccessible(tab);
    }
  }).timeout(60_000);

  it('the table of a console chart shows the right date even in a time zone west of Greenwich', async () => {
    const western = await personIn(at, { timezoneId: 'America/Los_Angeles' });
    const tab = await western.open();
    await signUp(tab, western.email);
    const counted = tab.waitForResponse('**/api/activity/**');
    await goTo(tab, 'Overview');
    const { days } = await (await counted).json();
    const named = await tab.locator('table').first().locator('th[scope=row]').first().textContent();
    const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });
    assert.equal(named, format.format(new Date(days[0].date)));
  });

  it("the console's pages log no errors or warnings to the browser's console", () => {
    assert.deepEqual(person.complaints, []);
  });
});
