import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { UserClient } from '../support/account.ts';
import { describeInBrowser } from '../support/browser.ts';
import { predictSuccessfully } from '../support/replies.ts';
import { clientOf, goTo, press, signUpInBrowser, useConsole } from './visit.ts';

const WORDS = 'Only the unit tests.';

describeInBrowser('decisions in the console', () => {
  const at = useConsole();
  let page: Page;
  let client: UserClient;

  before(async function () {
    this.timeout(60_000);
    const opened = await signUpInBrowser(at);
    page = opened.page;
    client = await clientOf(at.system, opened.person);
  });
  beforeEach(() => at.system.database.pool.query('delete from replies'));

  /** Opens the inbox with `count` new predictions; the latest, for `Question 1`, comes first. */
  async function openInbox(count: number): Promise<void> {
    await goTo(page, 'Overview');
    for (let nth = count; nth > 0; nth -= 1)
      await predictSuccessfully(client, { agent_input: `Question ${nth}`, threshold: 1 });
    await goTo(page, 'Inbox');
    await question(1).waitFor();
  }
  const question = (nth: number) => page.locator('blockquote').getByText(`Question ${nth}`, { exact: true });

  async function reply(): Promise<void> {
    await page.keyboard.press('e');
    await page.getByLabel('What you would reply').fill(WORDS);
    await press(page, 'Save my reply');
    await page.getByText('Your own words are noted.').waitFor();
  }
  async function assertWordsAreBack(): Promise<void> {
    await question(1).waitFor();
    assert.equal(await page.getByLabel('What you would reply').inputValue(), WORDS);
  }

  it("the console's inbox keeps the current prediction in view when a batch adds newer predictions", async () => {
    await openInbox(1);
    await page.getByText('Predict many at once').click();
    await page.getByLabel('What the agent asks').fill('Wie spät ist es?');
    await press(page, 'Predict them');
    await page.locator('.waiting li').nth(1).waitFor();
    await question(1).waitFor();
    assert.equal(await page.locator('.waiting li').nth(1).locator('[aria-current=true]').count(), 1);
  });

  it("the console's inbox continues with further predictions after its first page", async () => {
    await page.route(/\/api\/predictions\/\?.*limit=50/, (route, request) =>
      route.continue({ url: request.url().replace('limit=50', 'limit=2') }),
    );
    await openInbox(3);
    for (const nth of [1, 2]) {
      await question(nth).waitFor();
      await page.keyboard.press('x');
    }
    await question(3).waitFor();
    await page.keyboard.press('u');
    await question(2).waitFor();
    await page.unroute(/\/api\/predictions\/\?.*limit=50/);
  });

  it("undoing a decision in the console's inbox restores the text that the person typed", async () => {
    await openInbox(1);
    await reply();
    await press(page, 'Undo');
    await assertWordsAreBack();
  });

  it("a prediction returns to the console's inbox, with the typed text, if the decision cannot be sent", async () => {
    await openInbox(1);
    await page.route('**/feedback/', (route) => route.fulfill({ status: 500, json: {} }));
    await reply();
    await assertWordsAreBack();
    await page.unroute('**/feedback/');
  });

  it('signing out of the console sends the decision that could still be undone', async () => {
    await openInbox(1);
    await page.keyboard.press('x');
    await page.getByText('Rejected.').waitFor();
    await press(page, 'Sign out');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    const { rows } = await at.system.database.pool.query('select status from replies');
    assert.deepEqual(rows, [{ status: 'rejected' }]);
  });
});
