import assert from 'node:assert/strict';
import { describeInBrowser } from '../support/browser.ts';
import { clientOf, rowWith, signUpInBrowser, useConsole } from './visit.ts';

const WRONG = 1000;
const KEPT = 20;

describeInBrowser('forgetting many rows in the console', () => {
  const at = useConsole();

  it(`all ${WRONG} rows that match a filter of the console are selected and forgotten, with one receipt`, async () => {
    const { person, page } = await signUpInBrowser(at);
    const client = await clientOf(at.system, person);
    const rows = Array.from({ length: WRONG + KEPT }, (_, nth) => ({
      content: `Row ${nth}`,
      project: nth < WRONG ? 'wrong' : 'kept',
    }));
    for (let from = 0; from < rows.length; from += 200)
      assert.equal((await client.post('/api/memory/raw/', rows.slice(from, from + 200))).status, 201);
    await page.goto(`${page.url().replace(/#.*/, '')}#/memory/raw?project=wrong`);
    await rowWith(page, /^Row /).getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Select all', exact: true }).click();
    await page.getByText(`${WRONG} selected`).waitFor();
    // Loads the rows again that come into view.
    const again = page.waitForResponse(/memory\/raw\/.*cursor=/);
    await client.post('/api/memory/facts/', { text: 'I changed the memory meanwhile.' });
    await page.locator('.tabs a', { hasText: /^Facts1$/ }).waitFor();
    await page.keyboard.press('End');
    await again;
    await rowWith(page, 'Row 0').waitFor();
    await page.getByText(`${WRONG} selected`).waitFor();
    await page.getByRole('toolbar').getByRole('button', { name: 'Forget' }).click();
    const question = page.getByRole('dialog', { name: `Forget these ${WRONG} for good` });
    await question.getByRole('button', { name: 'Forget' }).click();
    await page.getByText(`${WRONG} forgotten.`).waitFor({ timeout: 120_000 });
    await page.getByText('Nothing matches.').waitFor();
    const left = await at.system.sql<{ project: string }>('select project from raw_memories');
    assert.deepEqual([left.length, new Set(left.map(({ project }) => project))], [KEPT, new Set(['kept'])]);
    assert.deepEqual(person.complaints, []);
  }).timeout(180_000);
});
