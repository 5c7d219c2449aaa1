import assert from 'node:assert/strict';
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import type { Page } from 'playwright-core';
import { describeInBrowser } from '../support/browser.ts';
import { goTo, type Person, press, signUpInBrowser, useConsole } from './visit.ts';

describeInBrowser('interruptions', () => {
  const at = useConsole();
  let person: Person;
  let page: Page;

  before(async function () {
    this.timeout(60_000);
    ({ person, page } = await signUpInBrowser(at));
  });
  it('the console renews an expired access token, and repeats the refused request', async () => {
    await goTo(page, 'Account');
    let sent = 0;
    await page.route('**/api/auth/keys/', async (route, request) => {
      sent += 1;
      if (sent > 1) return route.fallback();
      const headers = await request.allHeaders();
      const authorization = await expire(headers['authorization'] ?? '');
      await route.continue({ headers: { ...headers, authorization } });
    });
    const refusal = page.waitForResponse('**/api/auth/keys/');
    const renewing = page.waitForResponse('**/console/auth/token/refresh/');
    await goTo(page, 'Keys');
    assert.equal((await renewing).status(), 200);
    await page.getByText('You have no keys.').waitFor();
    assert.equal((await refusal).status(), 401);
    assert.equal(sent, 2);
    await page.unroute('**/api/auth/keys/');
  });

  function expire(authorization: string): Promise<string> {
    const token = authorization.replace('Bearer ', '');
    const { alg = '', ...header } = decodeProtectedHeader(token);
    return new SignJWT({ ...decodeJwt(token), exp: 1 })
      .setProtectedHeader({ ...header, alg })
      .sign(new TextEncoder().encode(at.system.env['JWT_SECRET']))
      .then((signed) => `Bearer ${signed}`);
  }

  it('an offline console says that no answer came, and loads the page when the connection is back', async () => {
    await person.context.setOffline(true);
    await goTo(page, 'Memory');
    await page.getByText('No answer came.').first().waitFor();
    await person.context.setOffline(false);
    await page.getByText('No facts yet.').waitFor();
  });

  for (const step of ['sync', 'promote/facts'])
    it(`the console records its sample person only once even if ${step} fails, and can remove the sample person`, async () => {
      await goTo(page, 'First minute');
      await page.route(`**/api/memory/${step}/`, (route) => route.fulfill({ status: 500, json: {} }));
      await press(page, 'Load the sample person');
      await page.getByRole('alert').waitFor();
      await page.unroute(`**/api/memory/${step}/`);
      const remove = page.getByRole('button', { name: 'Remove the sample person' });
      // Without a sync nothing of the sample person is in memory, so the page offers to load it again.
      if (step === 'sync') await press(page, 'Load the sample person');
      await remove.waitFor();
      const { rows } = await at.system.database.pool.query('select count(*)::int from recording_events');
      assert.deepEqual(rows, [{ count: 32 }]);
      await remove.click();
      await page.getByText('The sample person is gone.').waitFor();
    });

  it('the console keeps the person signed in across a restart of the server', async () => {
    const [first] = at.system.webs;
    assert.ok(first);
    const { port } = new URL(first.url);
    await first.stop();
    await goTo(page, 'Keys');
    await page.getByRole('alert').getByRole('button', { name: 'Try again' }).waitFor();
    await at.system.startWeb({ PORT: port });
    await press(page, 'Try again');
    await page.getByText('You have no keys.').waitFor();
    await page.reload();
    await page.getByText('You have no keys.').waitFor();
  });
});
