import type { Page } from 'playwright-core';
import { describeInBrowser } from '../support/browser.ts';
import { addMany, clientOf, goTo, type Person, personIn, press, signUp, useConsole } from './visit.ts';

describeInBrowser('controls of the console', () => {
  const at = useConsole();
  let person: Person;
  let page: Page;

  before(async function () {
    this.timeout(60_000);
    person = await personIn(at);
    page = await person.open();
    await signUp(page, person.email);
  });

  it('the console says how much was considered when learning has left something for later', async () => {
    await addMany(await clientOf(at.system, person), 150);
    await goTo(page, 'Memory');
    await press(page, 'Learn now');
    await page.getByText(/Considered: [1-9]\d* messages/).waitFor();
  });
});
