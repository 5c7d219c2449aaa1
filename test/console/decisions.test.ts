import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { DecisionSettings } from '../../shared/schemas/decisions.ts';
import type { PermissionAnswer } from '../../shared/schemas/permissions.ts';
import type { UserClient } from '../support/account.ts';
import { faultsOn } from '../support/axe.ts';
import { describeInBrowser } from '../support/browser.ts';
import { permissionEvent, permissionRequest } from '../support/permissions.ts';
import { post } from '../support/recording.ts';
import { until } from '../support/until.ts';
import { clientOf, goTo, press, signUpInBrowser, useConsole } from './visit.ts';

describeInBrowser("console's page of decisions", () => {
  const at = useConsole();
  let page: Page;
  let client: UserClient;

  const ask = async (command: string) =>
    (
      await client.request<PermissionAnswer>(
        'POST',
        '/api/predictions/permission/',
        permissionRequest(command),
      )
    ).body.decision;

  it('the console lists what was decided, the key o objects to it, and a switch ends it', async () => {
    const opened = await signUpInBrowser(at);
    page = opened.page;
    client = await clientOf(at.system, opened.person);
    const usual = ['npm test', 'npm run lint'].flatMap((command) => [command, command]);
    await post(
      client,
      usual.map((command) => permissionEvent(command)),
    );
    for (const command of usual) assert.equal(await ask(command), 'allow');
    await goTo(page, 'Decisions');
    await page.getByText('In the last 24 hours: 4.').waitFor();
    assert.deepEqual(await faultsOn(page), []);
    await page.locator('.a-row .main').first().focus();
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    await page.keyboard.press('o');
    await page.getByText('objected', { exact: true }).waitFor();
    assert.deepEqual([await ask('npm run lint'), await ask('npm test')], ['ask', 'allow']);
    // A switch that is pressed while another is being saved is saved, too.
    const saving = Promise.withResolvers<void>();
    await page.route('**/api/decisions/settings/', async (route) => {
      if (route.request().method() === 'PATCH') await saving.promise;
      await route.continue();
    });
    await page.getByLabel('Deny what I always refused').check();
    await page.getByLabel('Send me a mail a day about it').uncheck();
    saving.resolve();
    const settings = async () => (await client.get<DecisionSettings>('/api/decisions/settings/')).body;
    await until(async () => {
      const { deny, daily_note } = await settings();
      return deny && !daily_note;
    });
    await press(page, 'Stop everywhere');
    await page.getByText('Forecue decides nothing for you').waitFor();
    await until(async () => (await ask('npm test')) === 'ask');
    await press(page, 'Let it decide again');
    await page.getByText('Forecue may decide for you').waitFor();
    assert.equal(await ask('npm test'), 'allow');
    assert.deepEqual(opened.person.complaints, []);
  });
});
