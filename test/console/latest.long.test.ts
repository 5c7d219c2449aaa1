import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { UserClient } from '../support/account.ts';
import { describeInBrowser } from '../support/browser.ts';
import { predictSuccessfully } from '../support/replies.ts';
import { clientOf, goTo, loadSample, personIn, signUp, useConsole } from './visit.ts';

describeInBrowser('latest in the console', () => {
  const at = useConsole();
  let page: Page;
  let client: UserClient;

  before(async function () {
    this.timeout(60_000);
    const person = await personIn(at);
    page = await person.open();
    await signUp(page, person.email);
    client = await clientOf(at.system, person);
  });

  /** Opens the latest prediction, which has not ended, or failed with this error. */
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

  it('the console shows a prediction that failed with its error', async () => {
    const failed = await openPending('provider_failed');
    await failed.getByText('The language model gave no usable answer. Try again.').waitFor();
    assert.equal(await failed.locator('.badge').textContent(), 'failed');
  });

  it('the console says of a prediction that has not ended that it is still running', async () => {
    const running = await openPending(null);
    await running.getByText('It is still running.').waitFor();
    assert.equal(await running.locator('.badge').textContent(), 'running');
  });

  it("the console's timeline does not deny a session facts that it did not look for", async () => {
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
