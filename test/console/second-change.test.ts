import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { UserResponse } from '../../shared/schemas/accounts.ts';
import { describeInBrowser } from '../support/browser.ts';
import { claudeCodeFile } from '../support/transcripts.ts';
import { until } from '../support/until.ts';
import { clientOf, goTo, press, signUpInBrowser, useConsole } from './visit.ts';

/** Holds the page's first request that changes such an address, until the returned function is called. */
async function holdChange(page: Page, address: string): Promise<() => void> {
  const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
  let isFirst = true;
  await page.route(address, async (route, request) => {
    if (request.method() !== 'GET' && isFirst) {
      isFirst = false;
      await isReleased;
    }
    await route.continue();
  });
  return release;
}

describeInBrowser('a second change in the console while the first is saved', () => {
  const at = useConsole();

  it("the console saves an account's name that is changed again while the first change is saved", async () => {
    const { person, page } = await signUpInBrowser(at);
    const client = await clientOf(at.system, person);
    await goTo(page, 'Account');
    const release = await holdChange(page, '**/api/auth/me/');
    const name = page.getByLabel('Name', { exact: true });
    for (const typed of ['Ada', 'Ada Lovelace']) {
      const asked = typed === 'Ada' && page.waitForRequest((request) => request.method() === 'PATCH');
      await name.fill(typed);
      await name.press('Enter');
      await asked;
    }
    release();
    await page.getByText('Saved.').waitFor();
    assert.equal((await client.get<UserResponse>('/api/auth/me/')).body.name, 'Ada Lovelace');
  });

  it("the console saves an app's redirect URIs that are changed again while the first change is saved", async () => {
    const { page } = await signUpInBrowser(at);
    await goTo(page, 'Apps');
    await page.getByLabel('Name').fill('An editor');
    await press(page, 'Make an app');
    await page.getByRole('button', { name: 'Details: An editor' }).click();
    const release = await holdChange(page, '**/api/apps/*/');
    const uris = page.getByLabel(/redirect/i);
    const asked = page.waitForRequest((request) => request.method() === 'PATCH');
    await uris.fill('https://one.example/back');
    await press(page, 'Save');
    await asked;
    await uris.fill('https://two.example/back');
    await press(page, 'Save');
    release();
    await until(async () => {
      const [app] = await at.system.sql<{ uris: string }>(
        `select redirect_uris::text as uris from apps where name = 'An editor'`,
      );
      return app?.uris.includes('two.example');
    });
  });

  it('the console reads sessions that are chosen while it reads others', async () => {
    const { page } = await signUpInBrowser(at);
    await page.evaluate(`new Promise((installed) => {
      const read = Blob.prototype.arrayBuffer;
      const isReleased = new Promise((resolve) => { globalThis.release = resolve; });
      Blob.prototype.arrayBuffer = async function () {
        globalThis.isReading = true;
        await isReleased;
        return read.call(this);
      };
      installed();
    })`);
    const choose = (name: string, text: string) =>
      page
        .locator('input[type=file]:not([webkitdirectory])')
        .setInputFiles({ name, mimeType: 'application/jsonl', buffer: Buffer.from(text) });
    await choose('first.jsonl', '{}');
    await page.waitForFunction('globalThis.isReading');
    await choose('second.jsonl', claudeCodeFile('second'));
    await page.evaluate('globalThis.release()');
    await page.getByRole('button', { name: 'Send and learn from them' }).waitFor();
  });
});
