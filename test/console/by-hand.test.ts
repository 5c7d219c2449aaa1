import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { faultsOn } from '../support/axe.ts';
import { describeInBrowser } from '../support/browser.ts';
import { personIn, rowWith, useConsole } from './visit.ts';

const PASSWORD = 'a horse with 9 staples';
const REPLY = 'yes, I always want coverage';
const TABS_MAX = 60;

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true }).first();

const isFocused = async (control: Locator) =>
  (await control.and(control.page().locator(':focus')).count()) > 0;

/** Moves the focus by the Tab key until it is on this control. */
async function tabTo(page: Page, control: Locator): Promise<void> {
  await control.waitFor();
  for (let tabs = 0; tabs < TABS_MAX; tabs += 1) {
    if (await isFocused(control)) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`${TABS_MAX} tabs do not lead to ${control}`);
}

describeInBrowser('the console by one hand', () => {
  const at = useConsole();
  const factsLeft = async (words: string) =>
    (await at.system.sql('select from facts where text = $1', [words])).length;

  it('the console leads from sign-up to a forgotten fact by keyboard alone', async () => {
    const person = await personIn(at);
    const page = await person.open();
    const { keyboard } = page;
    await tabTo(page, button(page, 'Create an account'));
    await keyboard.press('Enter');
    await tabTo(page, page.getByLabel('E-mail'));
    await keyboard.type(person.email);
    await tabTo(page, page.getByLabel('Password'));
    await keyboard.type(PASSWORD);
    await keyboard.press('Enter');
    await tabTo(page, button(page, 'Load the sample person'));
    await keyboard.press('Enter');
    await button(page, 'Remove the sample person').waitFor();
    await keyboard.type('gm');
    const row = rowWith(page, REPLY);
    await row.waitFor();
    await tabTo(page, page.locator('.a-row .main').first());
    while (!(await isFocused(row.locator('.main')))) await keyboard.press('j');
    await keyboard.press('Enter');
    await tabTo(page, page.locator('dialog.pane').getByRole('button', { name: /^Forget/ }));
    await keyboard.press('Enter');
    await tabTo(
      page,
      page.getByRole('dialog', { name: /^Forget it/ }).getByRole('button', { name: 'Forget' }),
    );
    await keyboard.press('Enter');
    await page.getByText('Forgotten.').waitFor();
    await row.waitFor({ state: 'detached' });
    assert.equal(await factsLeft(REPLY), 0);
    await keyboard.press('Control+k');
    await keyboard.type('Sign out');
    await keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    assert.deepEqual(person.complaints, []);
  }).timeout(90_000);

  it('the console leads from sign-up to a forgotten fact by touch alone', async () => {
    const person = await personIn(at, {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
    });
    const page = await person.open();
    const type = async (label: string, text: string) => {
      await page.getByLabel(label).tap();
      await page.keyboard.insertText(text);
    };
    await button(page, 'Create an account').tap();
    await type('E-mail', person.email);
    await type('Password', PASSWORD);
    await button(page, 'Create an account').tap();
    await button(page, 'Load the sample person').tap();
    await button(page, 'Remove the sample person').waitFor();
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Memory' }).tap();
    const row = rowWith(page, REPLY);
    await row.locator('.main').tap();
    const sheet = page.locator('dialog.pane');
    await sheet.getByRole('heading', { name: 'Why do you think that?' }).waitFor();
    assert.deepEqual(await faultsOn(page), []);
    await sheet.getByRole('button', { name: /^Forget/ }).tap();
    await page
      .getByRole('dialog', { name: /^Forget it/ })
      .getByRole('button', { name: 'Forget' })
      .tap();
    await page.getByText('Forgotten.').waitFor();
    await row.waitFor({ state: 'detached' });
    await button(page, 'More').tap();
    const more = page.getByRole('dialog', { name: 'More' });
    const [close, first] = await Promise.all([
      more.getByRole('button', { name: 'Close' }).boundingBox(),
      more.getByRole('link', { name: 'Inbox' }).boundingBox(),
    ]);
    assert.ok(close && first && close.y + close.height <= first.y, 'a link is under the button that closes');
    await more.getByRole('button', { name: 'Sign out' }).tap();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    assert.deepEqual(person.complaints, []);
  }).timeout(90_000);
});
