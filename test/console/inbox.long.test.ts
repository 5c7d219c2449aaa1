import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { faultsOn } from '../support/axe.ts';
import { describeInBrowser } from '../support/browser.ts';
import { until } from '../support/until.ts';
import { clientOf, goTo, loadSample, type Person, press, signUpInBrowser, useConsole } from './visit.ts';

/** Questions in the order in which they are asked. Nothing is predicted for the first one. */
const QUESTIONS = ['Wie spät ist es?', 'Shall I run the tests with coverage now?', 'Run tests?'];

describeInBrowser('console inbox', () => {
  const at = useConsole();
  let person: Person;
  let page: Page;

  before(async function () {
    this.timeout(90_000);
    ({ person, page } = await signUpInBrowser(at));
    await loadSample(page);
  });
  async function statuses(): Promise<string[]> {
    const { rows } = await at.system.database.pool.query<{ status: string }>(
      'select status from replies order by created_at desc, id desc',
    );
    return rows.map(({ status }) => status);
  }

  const question = (nth: number) =>
    page.locator('blockquote').getByText(QUESTIONS.at(-1 - nth) ?? '', { exact: true });

  it('an empty inbox of the console says that nothing waits, and links to the page "Try it"', async () => {
    await goTo(page, 'Inbox');
    await page.getByText('Nothing waits for you.').waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Try it' }).waitFor();
  });

  it("the console's inbox shows waiting predictions with their candidates, their confidence and the memory behind them", async () => {
    await ask();
    await page.reload();
    await question(0).waitFor();
    assert.equal(await page.locator('.waiting li').count(), 3);
    await page.getByText('% sure').first().waitFor();
    await page.locator('.quotes li').first().waitFor();
    assert.deepEqual(await faultsOn(page), []);
  });

  it("the console's inbox shows twelve memory rows of a tier, and says how many more the prediction used", async () => {
    await at.system.database.pool.query(
      `update replies r
          set context = context || jsonb_build_object('fact_ids', '[]'::jsonb, 'episode_ids', '[]'::jsonb, 'example_ids', '[]'::jsonb,
                'raw_ids', (select jsonb_agg(id) from (select id from raw_memories where account_id = r.account_id limit 14) x))`,
    );
    await page.reload();
    await page.getByText('2 more were used.').waitFor();
  });

  it("the keys j and k move through the console's inbox, but not while the person types", async () => {
    await page.keyboard.press('j');
    await question(1).waitFor();
    await page.keyboard.press('k');
    await question(0).waitFor();
    await page.keyboard.press('e');
    const field = page.getByLabel('What you would reply');
    await field.waitFor();
    await field.fill('');
    await page.keyboard.type('jx1');
    assert.equal(await field.inputValue(), 'jx1');
    await page.keyboard.press('Escape');
    await field.waitFor({ state: 'detached' });
  });

  it("a decision in the console's inbox can be undone before the server receives the decision", async () => {
    await page.getByRole('region', { name: 'Waiting for you' }).focus();
    await page.keyboard.press('x');
    await page.getByText('Rejected.').waitFor();
    await question(1).waitFor();
    assert.deepEqual(await statuses(), ['escalated', 'escalated', 'escalated']);
    await page.keyboard.press('u');
    await question(0).waitFor();
    assert.equal(await page.locator('.waiting li').count(), 3);
    assert.deepEqual(await statuses(), ['escalated', 'escalated', 'escalated']);
  });

  it("holding down the key x in the console's inbox rejects one prediction only", async () => {
    await page.keyboard.down('x');
    await question(1).waitFor();
    await page.locator('[aria-keyshortcuts=x]').waitFor();
    // Repeats the key, which is still down.
    await page.keyboard.down('x');
    await page.keyboard.up('x');
    await page.keyboard.press('u');
    await question(0).waitFor();
    assert.equal(await page.locator('.waiting li').count(), 3);
  });

  it("a double click in the console's inbox accepts one prediction only", async () => {
    await page
      .getByRole('button', { name: /^That is my reply/ })
      .first()
      .click();
    await question(1).waitFor();
    await page.locator('[aria-keyshortcuts="1"]').waitFor();
    // Clicks again where the pointer is, within the time of a double click.
    await page.mouse.down({ clickCount: 2 });
    await page.mouse.up({ clickCount: 2 });
    await page.keyboard.press('u');
    await question(0).waitFor();
    assert.equal(await page.locator('.waiting li').count(), 3);
  });

  it("predictions in the console's inbox can be accepted, edited and rejected by keyboard", async () => {
    await page.keyboard.press('1');
    await question(1).waitFor();
    await page.keyboard.press('e');
    await page.getByLabel('What you would reply').fill('Only the unit tests.');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await question(2).waitFor();
    await page.getByText('It predicts nothing').waitFor();
    await page.keyboard.press('x');
    await page.getByText('Nothing waits for you.').waitFor();
    await until(async () => (await statuses()).join() === 'accepted,edited,rejected', 20_000);
    await page.reload();
    await page.getByText('Nothing waits for you.').waitFor();
    assert.deepEqual(person.complaints, []);
  });

  it("the console's inbox says when all predictions of a batch are ready, and shows a predicted reply", async () => {
    await page.getByText('Predict many at once').click();
    await page.getByLabel('What the agent asks').fill(['Run tests?', ...QUESTIONS].join('\n'));
    await press(page, 'Predict them');
    await page.getByText('4 of 4 are ready.').waitFor();
    await page.getByText('yes, I always want coverage').first().waitFor();
    assert.deepEqual(person.complaints, []);
  });

  /** Makes a prediction for each question, with a threshold that none of them reaches. */
  async function ask(): Promise<void> {
    const client = await clientOf(at.system, person);
    for (const agent_input of QUESTIONS) {
      const asked = { agent: 'coder', agent_input, k: 3, threshold: 1 };
      const { status } = await client.request('POST', '/api/predictions/predict/', asked);
      assert.equal(status, 200);
    }
  }
});
