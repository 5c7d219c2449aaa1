import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { UserClient } from '../support/account.ts';
import { describeInBrowser } from '../support/browser.ts';
import { predictSuccessfully } from '../support/replies.ts';
import { clientOf, goTo, loadSample, signUpInBrowser, useConsole } from './visit.ts';

describeInBrowser('latest predictions and facts in the console', () => {
  const at = useConsole();
  let page: Page;
  let client: UserClient;

  before(async function () {
    this.timeout(60_000);
    const opened = await signUpInBrowser(at);
    page = opened.page;
    client = await clientOf(at.system, opened.person);
  });

  /** Opens a prediction that failed with this error, or has not ended if the error is null. */
  async function openPending(error: string | null) {
    const { id } = await predictSuccessfully(client);
    await at.system.database.pool.query(
      `update replies set status = 'pending', error = $2, candidates = '[]' where id = $1`,
      [id, error],
    );
    await goTo(page, 'Keys');
    await goTo(page, 'Overview');
    const latest = page.locator('.card:has(summary .badge)').first();
    await latest.locator('summary').click();
    return latest;
  }

  it('the console shows the error of a prediction that failed', async () => {
    const failed = await openPending('provider_failed');
    await failed.getByText('The language model gave no usable answer. Try again.').waitFor();
    assert.equal(await failed.locator('.badge').textContent(), 'failed');
  });

  it('the console shows a prediction that has not ended as still running', async () => {
    const running = await openPending(null);
    await running.getByText('It is still running.').waitFor();
    assert.equal(await running.locator('.badge').textContent(), 'running');
  });

  it("the console's timeline says that none of the latest facts come from a session whose facts are older", async () => {
    await goTo(page, 'First minute');
    await loadSample(page);
    const later = Array.from({ length: 200 }, (_, nth) => ({ text: `Fact ${nth}` }));
    assert.equal((await client.request('POST', '/api/memory/facts/', later)).status, 201);
    await goTo(page, 'Memory');
    await page.getByRole('link', { name: 'Timeline' }).click();
    await page.locator('.timeline summary', { hasText: 'sample' }).first().click();
    await page.locator('.stages').getByText('None found among the latest facts.').waitFor();
  });
});
