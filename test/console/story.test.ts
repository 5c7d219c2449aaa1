import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { describeInBrowser } from '../support/browser.ts';
import { claudeCodeFile, claudeRecord } from '../support/transcripts.ts';
import { until } from '../support/until.ts';
import {
  goTo,
  loadSample,
  openRow,
  type Person,
  personIn,
  press,
  rowWith,
  signUp,
  signUpInBrowser,
  useConsole,
} from './visit.ts';

const REPLY = 'yes, I always want coverage';
const SECRET = 'sk-proj-abcdefghijklmnop0123456789';

describeInBrowser('person in the console', () => {
  const at = useConsole();
  let person: Person;
  let page: Page;

  before(async () => {
    person = await personIn(at);
    page = await person.open();
  });

  it('signing up in the console leads to the page on which sessions are brought', async () => {
    await signUp(page, person.email);
    await page.getByText('Drop your sessions here').waitFor();
  });

  const session = {
    name: 'session.jsonl',
    mimeType: 'application/jsonl',
    buffer: Buffer.from(
      claudeCodeFile('console').replace('be quick</system-reminder>', `</system-reminder>Use ${SECRET}. `),
    ),
  };

  it('the console masks the secrets of an uploaded session, and shows the masks before sending anything', async () => {
    await page.locator('input[type=file]:not([webkitdirectory])').setInputFiles(session);
    await page.getByText('2 secrets were masked:').waitFor();
    await page.getByText('Use [masked key]').waitFor();
    assert.equal(await recordedCount(), 0);
    await press(page, 'Send and learn from them');
    await page.getByText(/messages, \d+ episodes?, \d+ facts? are remembered/).waitFor();
    assert.ok((await recordedCount()) > 2);
    const { rows } = await at.system.database.pool.query('select body from recording_events');
    assert.ok(rows.every(({ body }) => !body.includes(SECRET)));
  });

  it("the console says what was not read or refused, and why, and takes another account's session", async () => {
    const { person: other, page: tab } = await signUpInBrowser(at);
    const choose = (name: string, text: string) =>
      tab
        .locator('input[type=file]:not([webkitdirectory])')
        .setInputFiles({ ...session, name, buffer: Buffer.from(text) });
    const unknown = { type: 'user', message: { content: [{ type: 'speech' }] } };
    await choose('odd.jsonl', JSON.stringify(claudeRecord('odd', 1, unknown)));
    await tab.getByText('odd.jsonl: nothing was read: none of its 1 messages has a known form').waitFor();
    await choose('old.jsonl', claudeCodeFile('old').replaceAll('2026-05-01', '1999-05-01'));
    await press(tab, 'Send and learn from them');
    await tab.getByText(/^\d+ messages were refused, and not recorded\. occurred_at: /).waitFor();
    await choose('session.jsonl', session.buffer.toString());
    await press(tab, 'Send and learn from them');
    await tab.getByText(/messages, \d+ episodes?, \d+ facts? are remembered/).waitFor();
    await other.context.close();
  });

  it('the console shows what was learnt from the sample person', async () => {
    await loadSample(page);
    await goTo(page, 'Memory');
    const pane = await openRow(page, REPLY);
    await pane.getByRole('heading', { name: 'Why do you think that?' }).waitFor();
    await pane
      .getByText(/session sample-/)
      .first()
      .waitFor();
    await page.getByRole('link', { name: 'Timeline' }).click();
    await openRow(page, 'sample');
    await page.locator('.stages li', { hasText: 'Facts' }).getByText(REPLY).waitFor();
  });

  it('the console completes a reply while a person types, and shows how the completion was made', async () => {
    await goTo(page, 'Try it');
    const draft = page.getByLabel('Your reply to it');
    const suggestion = page.locator('[data-forecue=ghost]').getByText('ways want coverage');
    // Types again if reading the memory took too long: the draft is then predicted without it.
    await until(async () => {
      await draft.fill('');
      await draft.pressSequentially('yes, I al', { delay: 30 });
      return suggestion.waitFor({ timeout: 5000 }).then(
        () => true,
        () => false,
      );
    });
    await page.locator('.waterfall li').nth(4).waitFor();
    await page.getByText(/What it rests on \([1-9]/).click();
    await page.locator('.quotes').getByText(REPLY).first().waitFor();
    await page.getByText('What was sent to the model').click();
    await page.getByText('the built-in predictor works here').waitFor();
    await draft.focus();
    await suggestion.waitFor();
    await page.keyboard.press('Tab');
    assert.equal(await draft.inputValue(), REPLY);
    await page.getByText(/api\/predictions\/draft\/ /).waitFor();
    await page.getByRole('button', { name: 'TypeScript' }).click();
    await page.getByText('await forecue.predictDraft({').waitFor();
  });

  it('a field added to the profile in the console is still there after a reload', async () => {
    await goTo(page, 'Memory');
    await page.getByRole('link', { name: 'Profile' }).click();
    await page.getByText('All of it is locked').waitFor();
    await press(page, 'Add a field');
    await page.getByLabel('Name').fill('editor');
    await page.getByLabel('Value').fill('vim');
    await press(page, 'Save');
    await page.getByText(/^Last changed/).waitFor();
    assert.ok(await page.getByText('Saved.').isVisible());
    await page.reload();
    await page.getByLabel('Name').waitFor();
    assert.equal(await page.getByLabel('Value').inputValue(), 'vim');
    const { rows } = await at.system.database.pool.query('select data from profiles');
    assert.deepEqual(rows, [{ data: { editor: 'vim' } }]);
  });

  it('the console predicts a reply, shows the memory behind the reply, and counts its acceptance', async () => {
    await goTo(page, 'Try it');
    await press(page, 'Predict my reply');
    await page.locator('.candidates').getByText(REPLY).waitFor();
    await page.locator('.quotes').getByText(REPLY).first().waitFor();
    await page.getByRole('button', { name: `That is my reply: ${REPLY}` }).click();
    await page.getByText('Accepted.').waitFor();
    await goTo(page, 'Overview');
    await page.getByText('Acted on or decided').waitFor();
    await page.getByRole('img', { name: 'Stated against observed' }).waitFor();
    await page.getByRole('img', { name: 'Predictions by day' }).waitFor();
    const target = page.getByRole('slider', { name: 'Right how often' });
    const asked = page.waitForResponse(/calibration\/\?target=0.96/);
    await target.press('ArrowRight');
    assert.equal((await asked).status(), 200);
    await page.getByText('There are not enough decisions of yours yet to say.').waitFor();
  });

  it('a fact forgotten in the console is no longer among the valid facts', async () => {
    await goTo(page, 'Memory');
    await rowWith(page, REPLY).hover();
    await rowWith(page, REPLY)
      .getByRole('button', { name: /^Forget: / })
      .click();
    await page.getByRole('dialog').getByRole('button', { name: 'Forget', exact: true }).click();
    await page.getByText(/^Forgotten/).waitFor();
    const { rows } = await at.system.database.pool.query(
      'select text from facts where invalidated_at is null',
    );
    assert.ok(
      rows.every(({ text }) => text !== REPLY),
      JSON.stringify(rows),
    );
  });

  it('a second tab of the console needs no sign-in, and signing out there signs out both tabs', async () => {
    const other = await person.open('#/account');
    await other.getByText(`You are ${person.email}.`).waitFor();
    // What still loads at a log-out is refused, and the browser logs that.
    await person.loaded(other);
    await press(other, 'Sign out');
    for (const tab of [other, page]) {
      await tab.getByRole('heading', { name: 'Sign in' }).waitFor();
      await tab.getByText('You are signed out.').waitFor();
    }
    await page.reload();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await other.close();
  });

  it('the console logs no errors or warnings, and keeps no token in localStorage or in a readable cookie', async () => {
    assert.deepEqual(person.complaints, []);
    const kept = await page.evaluate<string>('JSON.stringify({ ...localStorage }) + document.cookie');
    assert.doesNotMatch(kept, /eyJ|[\w-]{43}/);
  });

  async function recordedCount(): Promise<number> {
    const { rows } = await at.system.database.pool.query(
      'select count(*)::int as count from recording_events',
    );
    return rows[0].count;
  }
});
