import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { UserClient } from '../support/account.ts';
import { describeInBrowser } from '../support/browser.ts';
import { clientOf, press, signUpInBrowser, useConsole } from './visit.ts';

const PROFILE = '/api/memory/profile/';

describeInBrowser('profile in the console', () => {
  const at = useConsole();
  let page: Page;
  let client: UserClient;

  before(async function () {
    this.timeout(60_000);
    const opened = await signUpInBrowser(at);
    page = opened.page;
    client = await clientOf(at.system, opened.person);
  });

  async function addTo(profile: object, name: string, value: string): Promise<void> {
    await client.request('POST', PROFILE, { summary: '', ...profile });
    await page.goto(`${page.url().replace(/#.*/, '')}#/memory/profile`);
    await page.reload();
    await press(page, 'Add a field');
    await page.getByLabel('Name').last().fill(name);
    await page.getByLabel('Value').last().fill(value);
  }
  async function save(): Promise<object> {
    await press(page, 'Save');
    await page.getByText('Saved.').waitFor();
    return (await client.request<{ data: object; summary: string }>('GET', PROFILE)).body;
  }

  it("the console's profile keeps every digit of a typed number, and stores a typed `true` as a boolean", async () => {
    const data = { answer: '42', tools: ['vim', 1] };
    await addTo({ data }, 'version', '3.10');
    assert.partialDeepStrictEqual(await save(), { data: { ...data, version: '3.10' } });
    await page.getByLabel('Value').last().fill('12345678901234567890');
    assert.partialDeepStrictEqual(await save(), { data: { ...data, version: '12345678901234567890' } });
    await page.getByLabel('Value').last().fill('true');
    assert.partialDeepStrictEqual(await save(), { data: { ...data, version: true } });
  });

  it('the console saves only the changed part of a profile, the summary or the fields', async () => {
    await addTo({ summary: 'Before', data: {} }, 'editor', 'vim');
    await client.request('POST', PROFILE, { summary: 'Written elsewhere' });
    assert.partialDeepStrictEqual(await save(), { summary: 'Written elsewhere', data: { editor: 'vim' } });
    await client.request('POST', PROFILE, { data: { editor: 'emacs' } });
    await page.getByLabel('About you').fill('After');
    assert.partialDeepStrictEqual(await save(), { summary: 'After', data: { editor: 'emacs' } });
  });

  it('the console keeps unsaved changes of a profile while the person is on another page', async () => {
    await addTo({ summary: 'Before', data: {} }, 'editor', 'vim');
    await page.getByRole('link', { name: 'Facts' }).click();
    await page.getByLabel('About you').waitFor({ state: 'detached' });
    await client.request('POST', PROFILE, { summary: 'Written elsewhere' });
    await page.getByRole('link', { name: 'Profile' }).click();
    await page.getByLabel('About you').waitFor();
    assert.partialDeepStrictEqual(await save(), { summary: 'Written elsewhere', data: { editor: 'vim' } });
  });

  it('the console does not save a profile with two fields of one name, and says so', async () => {
    await addTo({ data: { editor: 'vim' } }, ' editor', 'emacs');
    let saves = 0;
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith(PROFILE)) saves += 1;
    });
    await press(page, 'Save');
    await page.getByText('Another field has this name.').waitFor();
    await page.getByLabel('Name').last().fill('shell');
    assert.partialDeepStrictEqual(await save(), { data: { editor: 'vim', shell: 'emacs' } });
    assert.equal(saves, 1);
  });
});
