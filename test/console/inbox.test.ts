import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { UserClient } from '../support/account.ts';
import { faultsOn } from '../support/axe.ts';
import { describeInBrowser } from '../support/browser.ts';
import { predictSuccessfully } from '../support/replies.ts';
import { until } from '../support/until.ts';
import {
  clientOf,
  goTo,
  loadSample,
  openRow,
  type Person,
  press,
  signUpInBrowser,
  useConsole,
} from './visit.ts';

/** Questions in the order in which they are asked. Nothing is predicted for the first one. */
const QUESTIONS = ['Wie spät ist es?', 'Shall I run the tests with coverage now?', 'Run tests?'];

const WORDS = 'Only the unit tests.';

describeInBrowser('inbox of the console', () => {
  const at = useConsole();

  describe('console inbox', () => {
    let person: Person;
    let page: Page;

    before(async () => {
      ({ person, page } = await signUpInBrowser(at));
      await loadSample(page);
    });
    async function statuses(): Promise<string[]> {
      const { rows } = await at.system.database.pool.query<{ status: string }>(
        'select status from replies where not trial order by created_at desc, id desc',
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

    it("opening the console's inbox takes three requests, and the next prediction one", async () => {
      await goTo(page, 'Keys');
      await page.getByText('You have no keys.').waitFor();
      const asked: string[] = [];
      const note = (request: { url(): string }) =>
        request.url().includes('/api/') && asked.push(request.url());
      page.on('request', note);
      await goTo(page, 'Inbox');
      await page.locator('.evidence .quotes li').first().waitFor();
      await until(() => asked.length >= 3);
      await page.keyboard.press('j');
      await question(1).waitFor();
      await until(() => asked.length >= 4);
      assert.equal(asked.length, 4, asked.join('\n'));
      page.off('request', note);
      await page.keyboard.press('k');
    });

    it("the console's inbox shows the questions, and nothing that the page Try it asked", async () => {
      assert.match((await page.locator('.waiting li').nth(1).textContent()) ?? '', /^Shall I run the tests/);
      await goTo(page, 'Try it');
      await press(page, 'Predict my reply');
      await page.locator('.candidates li').first().waitFor();
      await goTo(page, 'Inbox');
      await question(0).waitFor();
      assert.equal(await page.locator('.waiting li').count(), 3);
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
      await page.keyboard.press('j');
      await question(1).waitFor();
      await page.keyboard.press('k');
      await question(0).waitFor();
    });

    it("a decision in the console's inbox can be undone before the server receives the decision", async () => {
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
      await page.keyboard.press('Control+Enter');
      await question(2).waitFor();
      await page.getByText('It predicts nothing').waitFor();
      await page.keyboard.press('x');
      await page.getByText('Dismissed.').waitFor();
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

  describe('decisions in the console', () => {
    let page: Page;
    let client: UserClient;

    before(async () => {
      const opened = await signUpInBrowser(at);
      page = opened.page;
      client = await clientOf(at.system, opened.person);
    });
    beforeEach(() => at.system.database.pool.query('delete from replies'));

    /** Opens the inbox with `count` new predictions; the latest, for `Question 1`, comes first. */
    async function openInbox(count: number): Promise<void> {
      await goTo(page, 'Overview');
      for (let nth = count; nth > 0; nth -= 1)
        await predictSuccessfully(client, { agent_input: `Question ${nth}`, threshold: 1 });
      await goTo(page, 'Inbox');
      await question(1).waitFor();
    }
    const question = (nth: number) =>
      page.locator('blockquote').getByText(`Question ${nth}`, { exact: true });

    async function reply(): Promise<void> {
      await page.keyboard.press('e');
      await page.getByLabel('What you would reply').fill(WORDS);
      await press(page, 'Save my reply');
      await page.getByText('Your own words are noted.').waitFor();
    }
    async function assertWordsAreBack(): Promise<void> {
      await question(1).waitFor();
      assert.equal(await page.getByLabel('What you would reply').inputValue(), WORDS);
    }

    it("the console's inbox keeps the current prediction in view when a batch adds newer predictions", async () => {
      await openInbox(1);
      await page.getByText('Predict many at once').click();
      await page.getByLabel('What the agent asks').fill('Wie spät ist es?');
      await press(page, 'Predict them');
      await page.locator('.waiting li').nth(1).waitFor();
      await question(1).waitFor();
      assert.equal(await page.locator('.waiting li').nth(1).locator('[aria-current=true]').count(), 1);
    });

    it("the console's inbox continues with further predictions after its first page", async () => {
      await page.route(/\/api\/predictions\/\?.*limit=50/, (route, request) =>
        route.continue({ url: request.url().replace('limit=50', 'limit=2') }),
      );
      await openInbox(3);
      for (const nth of [1, 2]) {
        await question(nth).waitFor();
        await page.keyboard.press('x');
      }
      await question(3).waitFor();
      await page.keyboard.press('u');
      await question(2).waitFor();
      await page.unroute(/\/api\/predictions\/\?.*limit=50/);
    });

    it("undoing a decision in the console's inbox restores the text that the person typed", async () => {
      await openInbox(1);
      await reply();
      await press(page, 'Undo');
      await assertWordsAreBack();
    });

    it("a prediction returns to the console's inbox, with the typed text, if the decision cannot be sent", async () => {
      await openInbox(1);
      await page.route('**/feedback/', (route) => route.fulfill({ status: 500, json: {} }));
      await reply();
      await assertWordsAreBack();
      await page.unroute('**/feedback/');
    });

    it('signing out of the console sends the decision that could still be undone', async () => {
      await openInbox(1);
      await page.keyboard.press('x');
      await page.getByText('Dismissed.').waitFor();
      await press(page, 'Sign out');
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      const rows = await at.system.sql('select status from replies');
      assert.deepEqual(rows, [{ status: 'rejected' }]);
    });
  });

  describe('latest predictions and facts in the console', () => {
    let page: Page;
    let client: UserClient;

    before(async () => {
      const opened = await signUpInBrowser(at);
      page = opened.page;
      client = await clientOf(at.system, opened.person);
    });

    /** Opens a prediction that failed with this error, or has not ended if the error is null. */
    async function openPending(error: string | null) {
      const { id } = await predictSuccessfully(client);
      await at.system.database.pool.query(
        `update replies set status = 'pending', error = $2, candidates = '[]' where id = $1`,
        [id, error],
      );
      await goTo(page, 'Keys');
      await goTo(page, 'Overview');
      return openRow(page, /failed|running/);
    }

    it('the console shows the error of a prediction that failed', async () => {
      const failed = await openPending('provider_failed');
      await failed.getByText('The language model gave no usable answer. Try again.').waitFor();
      assert.equal(await failed.locator('.badge').textContent(), 'failed');
    });

    it('the console shows a prediction that has not ended as still running', async () => {
      const running = await openPending(null);
      await running.getByText('It is still running.').waitFor();
      assert.equal(await running.locator('.badge').textContent(), 'running');
    });

    it("the console's timeline says that none of the latest facts come from a session whose facts are older", async () => {
      await goTo(page, 'Bring sessions');
      await loadSample(page);
      const later = Array.from({ length: 200 }, (_, nth) => ({ text: `Fact ${nth}` }));
      assert.equal((await client.request('POST', '/api/memory/facts/', later)).status, 201);
      await goTo(page, 'Memory');
      await page.getByRole('link', { name: 'Timeline' }).click();
      await openRow(page, 'sample');
      await page.locator('.stages').getByText('None found among the latest facts.').waitFor();
    });
  });
});
