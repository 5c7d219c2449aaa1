import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { clientWithKey } from '../support/account.ts';
import { faultsOn } from '../support/axe.ts';
import { describeInBrowser } from '../support/browser.ts';
import { add } from '../support/memory.ts';
import { until } from '../support/until.ts';
import {
  clientOf,
  goTo,
  openRow,
  type Person,
  personIn,
  press,
  rowWith,
  signUp,
  signUpInBrowser,
  useConsole,
} from './visit.ts';

const PASSWORD = 'a horse with 9 staples';
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

describeInBrowser('console account page', () => {
  const at = useConsole();
  let person: Person;
  let page: Page;

  before(async () => {
    ({ person, page } = await signUpInBrowser(at));
  });

  async function signIn(tab: Page): Promise<void> {
    await tab.getByLabel('E-mail').fill(person.email);
    await tab.getByLabel('Password').fill(PASSWORD);
    await press(tab, 'Sign in');
    await tab.getByRole('navigation', { name: 'Pages' }).waitFor();
  }

  /** Opens a page of another browser, in which the person signs in. */
  async function signInElsewhere(): Promise<Page> {
    const other = await personIn(at, { userAgent: FIREFOX });
    const elsewhere = await other.open();
    await signIn(elsewhere);
    return elsewhere;
  }

  it('the account page of the console lists the log-ins, and ends one in another browser', async () => {
    const elsewhere = await signInElsewhere();
    await goTo(page, 'Account');
    await rowWith(page, 'this one').waitFor();
    const pane = await openRow(page, 'Firefox · Linux');
    await pane.getByText(/^logged in /).waitFor();
    assert.deepEqual(await faultsOn(page), []);
    await pane.getByRole('button', { name: 'End this log-in: Firefox · Linux' }).click();
    await page
      .getByRole('dialog', { name: /^End it/ })
      .getByRole('button', { name: 'End this log-in' })
      .click();
    await rowWith(page, 'Firefox · Linux').waitFor({ state: 'detached' });
    await elsewhere.reload();
    await elsewhere.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  it('the account page of the console ends all log-ins but its own', async () => {
    const elsewhere = await signInElsewhere();
    await page.reload();
    await goTo(page, 'Account');
    await press(page, 'End all others');
    await page.getByRole('dialog').getByRole('button', { name: 'End all others' }).click();
    await rowWith(page, 'Firefox · Linux').waitFor({ state: 'detached' });
    await rowWith(page, 'this one').waitFor();
    await elsewhere.reload();
    await elsewhere.getByRole('heading', { name: 'Sign in' }).waitFor();
    assert.deepEqual(person.complaints, []);
  });

  it('what the person corrects in the console is still there when the log-in ends meanwhile and they sign in again', async () => {
    const client = await clientOf(at.system, person);
    await add(client, 'facts', { text: 'I drink tea.' });
    const elsewhere = await signInElsewhere();
    await goTo(elsewhere, 'Memory');
    const pane = await openRow(elsewhere, 'I drink tea.');
    await pane.getByRole('button', { name: 'Correct' }).click();
    await pane.getByLabel('Correct').fill('I drink green tea in the morning.');
    const logIns = await client.get<{ results: { id: string; client: string }[] }>('/api/auth/log-ins/');
    for (const { id, client: name } of logIns.body.results)
      if (name === 'Firefox') await client.request('DELETE', `/api/auth/log-ins/${id}/`);
    // An access token may still be taken for two seconds.
    await elsewhere.route('**/api/memory/facts/*/', (route) =>
      route.fulfill({ status: 401, json: { detail: { code: 'token_expired', message: 'No.' } } }),
    );
    await press(elsewhere, 'Save');
    await elsewhere.getByRole('heading', { name: 'Sign in' }).waitFor();
    await elsewhere.unroute('**/api/memory/facts/*/');
    await signIn(elsewhere);
    assert.equal(await pane.getByLabel('Correct').inputValue(), 'I drink green tea in the morning.');
    await press(elsewhere, 'Save');
    await rowWith(elsewhere, 'I drink green tea').waitFor();
    await elsewhere.context().close();
  });

  it('the connections page of the console shows who read what, and filters by reader', async () => {
    const owner = await clientOf(at.system, person);
    await add(owner, 'facts', { text: 'Uses pnpm' });
    const key = await clientWithKey(owner, ['read']);
    assert.equal((await key.get('/api/memory/facts/')).status, 200);
    await until(async () => (await owner.get('/api/accesses/')).text.includes('"agent"'));
    await owner.get('/api/memory/facts/');
    await until(async () => (await owner.get('/api/accesses/')).text.includes('"log_in"'));
    await goTo(page, 'Connections');
    await rowWith(page, 'you, signed in').waitFor();
    await page.getByLabel('Read by').selectOption('agent');
    await rowWith(page, 'you, signed in').waitFor({ state: 'detached' });
    const pane = await openRow(page, 'agent');
    await pane.getByText('1 read', { exact: true }).waitFor();
    assert.deepEqual(await faultsOn(page), []);
  });

  it('the account page of the console says that a server without mail cannot confirm an address', async () => {
    await goTo(page, 'Account');
    await page.getByLabel('New e-mail address').fill('new@example.com');
    const form = page.locator('form', { has: page.getByLabel('New e-mail address') });
    await form.getByLabel('Current password').fill(PASSWORD);
    await press(page, 'Mail a link there');
    await page.getByText('This server sends no mail').waitFor();
  });

  it('a passkey that is made on the account page of the console signs in, is renamed and removed', async () => {
    const address = `http://localhost:${new URL(at.system.webs[0]?.url ?? '').port}/console/`;
    const owner = await personIn(at);
    const tab = await owner.context.newPage();
    await tab.goto(address);
    await signUp(tab, owner.email);
    const devtools = await owner.context.newCDPSession(tab);
    await devtools.send('WebAuthn.enable');
    await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
      },
    });
    await goTo(tab, 'Account');
    await tab.getByLabel('Name of the passkey').fill('A laptop');
    await press(tab, 'Add a passkey');
    await rowWith(tab, 'A laptop').waitFor();
    assert.deepEqual(await faultsOn(tab), []);
    await press(tab, 'Log out everywhere');
    await tab.getByRole('heading', { name: 'Sign in' }).waitFor();
    assert.deepEqual(await faultsOn(tab), []);
    await press(tab, 'Sign in with a passkey');
    await tab.getByRole('navigation', { name: 'Pages' }).waitFor();
    await goTo(tab, 'Account');
    const pane = await openRow(tab, 'A laptop');
    await pane.getByLabel('Name of the passkey').fill('A phone');
    await press(tab, 'Rename it');
    await pane.getByRole('button', { name: 'Remove the passkey: A phone' }).click();
    await tab
      .getByRole('dialog', { name: /^Remove it/ })
      .getByRole('button', { name: 'Remove the passkey' })
      .click();
    await tab.getByText('You have no passkeys.').waitFor();
  });
});
