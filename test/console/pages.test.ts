import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { faultsOn } from '../support/axe.ts';
import { describeInBrowser } from '../support/browser.ts';
import { goTo, loadSample, openRow, type Person, personIn, press, signUp, useConsole } from './visit.ts';

const PHONE = { width: 390, height: 844 };
const DESKTOP = { width: 1440, height: 900 };
const LOOKS = [
  { colorScheme: 'light', size: DESKTOP },
  { colorScheme: 'dark', size: PHONE },
] as const;
const PAGES = [
  'Bring sessions',
  'Try it',
  'Inbox',
  'Decisions',
  'Memory',
  'Overview',
  'Connections',
  'Keys',
  'Account',
];

describeInBrowser('console pages', () => {
  const at = useConsole();
  let person: Person;
  let page: Page;

  before(async () => {
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
    await page.setViewportSize(DESKTOP);
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
  });

  it("the console's filled pages pass axe's accessibility checks and fit the window of a desktop and a phone", async () => {
    await goTo(page, 'Bring sessions');
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
    const pane = await openRow(page, 'coverage');
    await pane.locator('.quotes li').first().waitFor();
    await page.getByRole('checkbox').first().check();
    await assertAccessible('a fact');
    await pane.getByRole('button', { name: /^Forget: / }).click();
    await page.getByText('Forget it for good').waitFor();
    await assertAccessible('a question');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Profile' }).click();
    await page.getByText('Add a field').click();
    await assertAccessible('the profile');
    await page.getByRole('link', { name: 'Timeline' }).click();
    await (await openRow(page, 'sample')).locator('.stages').waitFor();
    await assertAccessible('the timeline');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('coverage');
    await page.getByRole('option', { name: 'coverage' }).first().waitFor();
    await assertAccessible('the palette');
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await assertAccessible('the keys');
  });

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
