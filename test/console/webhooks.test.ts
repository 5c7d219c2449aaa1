import assert from 'node:assert/strict';
import { faultsOn } from '../support/axe.ts';
import { describeInBrowser } from '../support/browser.ts';
import { startScriptedServer } from '../support/scripted-server.ts';
import { until } from '../support/until.ts';
import { deliveryThat, finishJob, idOf, makeWebhook, verified } from '../support/webhooks.ts';
import { clientOf, goTo, press, signUpInBrowser, useConsole } from './visit.ts';

describeInBrowser('webhooks in the console', () => {
  const at = useConsole(() => ({ ALLOW_PRIVATE_ADDRESSES: 'true' }));

  it('a person adds a webhook, sees its secret once and what was sent, sends it again, pauses and deletes it', async () => {
    await using receiver = await startScriptedServer({});
    const { person, page } = await signUpInBrowser(at);
    await goTo(page, 'Account');
    const card = page.getByRole('region', { name: 'Webhooks' });
    await card.getByLabel('Address, https').fill('nowhere');
    await card.getByRole('button', { name: 'Add a webhook' }).click();
    await card.getByText('A public address that begins').waitFor();
    await card.getByLabel('Address, https').fill(receiver.url);
    await card.getByLabel('a connection was revoked').uncheck();
    await card.getByRole('button', { name: 'Add a webhook' }).click();
    const secret = (await card.locator('code.secret').textContent()) ?? '';
    await finishJob(await clientOf(at.system, person));
    const [request] = await until(() => receiver.requests.length === 1 && receiver.requests);
    assert.ok(request);
    assert.equal(verified(request, secret).type, 'job.finished');
    await card.getByRole('button', { name: 'Deliveries' }).click();
    const delivery = card.getByRole('listitem').filter({ hasText: 'a job has ended' });
    await until(async () => {
      await press(page, 'Look again');
      return (await delivery.textContent())?.includes('delivered');
    });
    assert.deepEqual(await faultsOn(page), []);
    await delivery.getByRole('button', { name: 'Send again' }).click();
    await until(() => receiver.requests.length === 2);
    assert.deepEqual(receiver.requests.map(idOf), [idOf(request), idOf(request)]);
    await card.getByRole('button', { name: 'Pause' }).click();
    await card.getByText('paused').waitFor();
    await card.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await card.getByRole('heading', { name: receiver.url }).waitFor({ state: 'detached' });
    await page.reload();
    await card.getByRole('button', { name: 'Add a webhook' }).waitFor();
    assert.equal(await card.getByText('whsec_').count(), 0);
  });

  it('why a delivery failed is said in the language of the person', async () => {
    await using receiver = await startScriptedServer({ status: 500 });
    const { person, page } = await signUpInBrowser(at);
    const client = await clientOf(at.system, person);
    const { id } = await makeWebhook(client, { url: receiver.url, events: ['job.finished'] });
    await finishJob(client);
    await deliveryThat(client, id, ({ reason }) => reason === 'answered 500');
    await page.evaluate(`localStorage.setItem('forecue.language', 'de')`);
    await page.reload();
    await page.evaluate(`location.hash = '#/account'`);
    await page.getByRole('button', { name: 'Sendungen' }).click();
    await page.getByText('(antwortete 500)').waitFor();
  });

  it('an app has webhooks of its own, in its details', async () => {
    const { page } = await signUpInBrowser(at);
    await goTo(page, 'Apps');
    await page.getByLabel('Name').fill('Notes');
    await press(page, 'Make an app');
    await page.getByRole('button', { name: 'Details: Notes' }).click();
    const card = page.getByRole('region', { name: 'Webhooks' });
    await card.getByLabel('Address, https').fill('https://receiver.example/');
    await card.getByRole('button', { name: 'Add a webhook' }).click();
    await card.locator('code.secret').waitFor();
    await card.getByText('80 % or all of the cap is used · active').waitFor();
    await goTo(page, 'Account');
    await page
      .getByRole('region', { name: 'Webhooks' })
      .getByRole('button', { name: 'Add a webhook' })
      .waitFor();
    assert.equal(await page.getByText('https://receiver.example/').count(), 0);
  });
});
