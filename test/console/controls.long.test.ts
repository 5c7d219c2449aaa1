import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { describeInBrowser } from '../support/browser.ts';
import { claudeCodeFile } from '../support/transcripts.ts';
import {
  addMany,
  clientOf,
  goTo,
  loadSample,
  PASSWORD,
  type Person,
  press,
  signUpInBrowser,
  useConsole,
} from './visit.ts';

const session = {
  name: 'session.jsonl',
  mimeType: 'application/jsonl',
  buffer: Buffer.from(claudeCodeFile('controls')),
};

describeInBrowser('controls of the console', () => {
  const at = useConsole();
  let person: Person;
  let page: Page;

  before(async function () {
    this.timeout(60_000);
    ({ person, page } = await signUpInBrowser(at));
  });

  /** Answers the page's calls of this method and address with an error, until the returned function is called. */
  async function refuse(address: string, method: string, status: number, code: string) {
    await page.route(address, (route) =>
      route.request().method() === method
        ? route.fulfill({ status, json: { detail: { code, message: 'No.' } } })
        : route.continue(),
    );
    return () => page.unroute(address);
  }

  it('the console\'s button "Skip to the content" moves the focus without changing the page\'s address', async () => {
    await goTo(page, 'Account');
    await page.getByRole('button', { name: 'Skip to the content' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('#content:focus').waitFor();
    assert.equal(new URL(page.url()).hash, '#/account');
  });

  it('when a second password change fails, the console removes the success message of the first', async () => {
    await page.getByLabel('Current password').fill(PASSWORD);
    await page.getByLabel('New password').fill(PASSWORD);
    await press(page, 'Change the password');
    const done = page.getByText('The password is changed');
    await done.waitFor();
    await page.getByLabel('Current password').fill('a wrong password');
    await page.getByLabel('New password').fill(PASSWORD);
    await press(page, 'Change the password');
    await page.getByText('The current password is not right.').waitFor();
    assert.equal(await done.count(), 0);
  });

  it('after a wrong password for an erasure, the console stays signed in, and asks no other tab for tokens', async () => {
    const accept = await refuse('**/api/auth/me/', 'DELETE', 403, 'fresh_login_required');
    await page.evaluate(`heard = [];
      new BroadcastChannel('forecue.console').onmessage = ({ data }) => heard.push(Object.keys(data)[0]);`);
    await page.getByLabel(`Type ${person.email} to confirm`).fill(person.email);
    await press(page, 'Erase everything');
    await page.getByLabel('Enter your password to confirm that it is you').fill('a wrong password');
    await press(page, 'Confirm');
    await page.getByText('Wrong e-mail address or password.').waitFor();
    await goTo(page, 'Keys');
    await page.getByText('You have no keys.').waitFor();
    assert.deepEqual(await page.evaluate('heard'), []);
    await accept();
  });

  it('the console focuses its question before revoking a key, and cancelling returns the focus to the button', async () => {
    await page.getByLabel('What it is for').fill('an importer');
    await press(page, 'Issue a key');
    const revoke = page.getByRole('button', { name: 'Revoke: an importer' });
    await revoke.click();
    await page.locator('[role=group][aria-label^="End this key?"]:focus').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await revoke.and(page.locator(':focus')).waitFor();
  });

  it('the console shows when an app was connected, and shows a revoked connection as revoked', async () => {
    const connection = { app_name: 'Editor', created_at: '2026-01-02T10:00:00Z' };
    const results = [
      { ...connection, connection_id: 'one', status: 'connected' },
      { ...connection, connection_id: 'two', status: 'revoked' },
    ];
    await page.route('**/api/connections/', (route) => route.fulfill({ json: { results } }));
    await goTo(page, 'Connections');
    await page.getByText('connected since 2 Jan 2026').waitFor();
    await page.getByText('revoked', { exact: true }).waitFor();
    await page.unroute('**/api/connections/');
  });

  it('the console replaces the progress by an error when an upload, or learning from the upload, fails', async () => {
    const accept = await refuse('**/api/recording/events/', 'POST', 500, 'internal_error');
    await goTo(page, 'First minute');
    await page.locator('input[type=file]:not([webkitdirectory])').setInputFiles(session);
    await press(page, 'Send and learn from them');
    await page.getByRole('alert').getByText('Something went wrong.').waitFor();
    await accept();
    await refuse('**/api/memory/sync/**', 'POST', 500, 'internal_error');
    await press(page, 'Send and learn from them');
    await page.getByRole('alert').getByText('Something went wrong.').waitFor();
    assert.equal(await page.getByText('Learning:').count(), 0);
    await page.unrouteAll();
  });

  it('sessions that a person chooses in the console while it learns from earlier ones can be sent next', async () => {
    const choose = async (name: string) => {
      const buffer = Buffer.from(claudeCodeFile(name));
      await page.locator('input[type=file]:not([webkitdirectory])').setInputFiles({ ...session, buffer });
    };
    const chosen = Promise.withResolvers<void>();
    await page.route('**/api/memory/sync/**', (route) => chosen.promise.then(() => route.continue()));
    const learning = page.waitForRequest('**/api/memory/sync/**');
    await page.reload();
    await choose('controls-now');
    await press(page, 'Send and learn from them');
    await learning;
    await choose('controls-later');
    chosen.resolve();
    await page.getByText(/^New: /).waitFor();
    await press(page, 'Send and learn from them');
    await page.getByRole('button', { name: 'Send and learn from them' }).waitFor({ state: 'detached' });
    const { rows } = await at.system.database.pool.query(
      "select count(*)::int from recording_sessions where id = 'claude-code:controls-later'",
    );
    assert.deepEqual(rows, [{ count: 1 }]);
    await page.unrouteAll();
  });

  it('the console shows an error if a dropped file cannot be read', async () => {
    await page.reload();
    await page.locator('.drop').waitFor();
    await page.evaluate(`{
      const file = (_, refuse) => refuse(new DOMException('gone', 'NotFoundError'));
      const items = [{ webkitGetAsEntry: () => ({ isFile: true, file }) }];
      const drop = Object.assign(new Event('drop', { cancelable: true }), { dataTransfer: { items } });
      document.querySelector('.drop').dispatchEvent(drop);
    }`);
    await page.getByRole('alert').getByText('Something went wrong.').waitFor();
  });

  it('after learning from 150 messages, the console says how many messages were considered', async () => {
    await addMany(await clientOf(at.system, person), 150);
    await goTo(page, 'Memory');
    await press(page, 'Learn now');
    await page.getByText(/Considered: [1-9]\d* messages/).waitFor();
  });

  it('the console says how many questions of a batch are beyond the limit of 100', async () => {
    await goTo(page, 'Inbox');
    await page.getByText('Predict many at once').click();
    await page.getByLabel('What the agent asks').fill('Run tests?\n'.repeat(103));
    await page.getByText('Only the first 100 are predicted: 3 lines are left out.').waitFor();
  });

  it("a decision on the console's overview updates its section on the threshold, and empties the list of waiting predictions", async () => {
    await goTo(page, 'First minute');
    await loadSample(page);
    const client = await clientOf(at.system, person);
    const asked = { agent: 'coder', agent_input: 'Shall I run the tests with coverage?', k: 3, threshold: 1 };
    assert.equal((await client.request('POST', '/api/predictions/predict/', asked)).status, 200);
    await goTo(page, 'Overview');
    await page.getByText('You have not decided on any prediction yet.').waitFor();
    await page.locator('summary', { hasText: 'waiting' }).click();
    await page
      .getByRole('button', { name: /^That is my reply/ })
      .first()
      .click();
    await page.getByText('There are not enough decisions of yours yet to say.').waitFor();
    await press(page, 'Waiting for you');
    await page.getByText('Nothing waits for you.').waitFor();
  });
});
