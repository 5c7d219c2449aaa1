import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { UserResponse } from '../../shared/schemas/accounts.ts';
import type { DecisionSettings } from '../../shared/schemas/decisions.ts';
import type { PermissionAnswer } from '../../shared/schemas/permissions.ts';
import type { UserClient } from '../support/account.ts';
import { faultsOn } from '../support/axe.ts';
import { describeInBrowser } from '../support/browser.ts';
import { permissionEvent, permissionRequest } from '../support/permissions.ts';
import { event, post } from '../support/recording.ts';
import { claudeCodeFile } from '../support/transcripts.ts';
import { until } from '../support/until.ts';
import {
  clientOf,
  goTo,
  loadSample,
  personIn,
  press,
  rowWith,
  signUp,
  signUpInBrowser,
  useConsole,
} from './visit.ts';

const FACTS = 40;

const WRONG = 1000;
const KEPT = 20;

interface Row {
  id: string;
  project: string | null;
}

/** Holds the page's first request that changes such an address, until the returned function is called. */
async function holdChange(page: Page, address: string): Promise<() => void> {
  const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
  let isFirst = true;
  await page.route(address, async (route, request) => {
    if (request.method() !== 'GET' && isFirst) {
      isFirst = false;
      await isReleased;
    }
    await route.continue();
  });
  return release;
}

describeInBrowser('rows and keys of the console', () => {
  const at = useConsole();
  let page: Page;
  let client: UserClient;

  before(async () => {
    const { person, page: opened } = await signUpInBrowser(at);
    page = opened;
    client = await clientOf(at.system, person);
    const facts = Array.from({ length: FACTS }, (_, nth) => ({ text: `Fact ${nth}`, pinned: nth === 3 }));
    assert.equal((await client.request('POST', '/api/memory/facts/', facts)).status, 201);
  });

  it('the keys g and m lead to the memory, which shows 18 facts or more on a screen, in rows of 36 to 44 pixels', async () => {
    await page.keyboard.type('gm');
    const rows = page.locator('.a-row');
    await rows.first().waitFor();
    const boxes = await Promise.all((await rows.all()).slice(0, 18).map((row) => row.boundingBox()));
    assert.ok(boxes.every((box) => box !== null && box.height >= 36 && box.height <= 44));
    const last = boxes.at(-1);
    assert.ok(last && last.y + last.height <= 900, JSON.stringify(last));
    assert.match((await rows.first().textContent()) ?? '', /pinned.*Fact 3/);
  });

  it('facts selected by keyboard are forgotten together, with one receipt', async () => {
    await page.locator('.a-row .main').first().focus();
    for (const key of ['j', 'x', 'j', 'x', 'ArrowDown', 'x']) await page.keyboard.press(key);
    await page.getByText('3 selected').waitFor();
    await page.getByRole('toolbar').getByRole('button', { name: 'Forget' }).press('Enter');
    await page.getByRole('dialog', { name: /^Forget these 3/ }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('3 forgotten.').waitFor();
    // The keys go on with the row that is now in their place.
    await page.keyboard.press('x');
    await page.getByText('1 selected').waitFor();
    await page.keyboard.press('Escape');
    const rows = await at.system.sql('select count(*)::int as count from facts');
    assert.deepEqual(rows, [{ count: FACTS - 3 }]);
  });

  it('an opened row is in the address of the console, and Back and Escape close it', async () => {
    await page.getByText('Fact 7', { exact: true }).click();
    const pane = page.locator('dialog.pane');
    await pane.waitFor();
    const address = page.url();
    await page.goBack();
    await pane.waitFor({ state: 'detached' });
    await page.goto(address);
    await pane.getByText('Fact 7', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await pane.waitFor({ state: 'detached' });
  });

  it("the console's palette leads to a page and to a fact, and the key ? lists the keys", async () => {
    await page.keyboard.press('Control+k');
    await page.keyboard.type('Keys');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    await page.keyboard.press('/');
    await page.getByRole('combobox').fill('Fact 9');
    await page.getByRole('option', { name: 'Fact 9', exact: true }).click();
    await page.locator('dialog.pane').getByText('Fact 9', { exact: true }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('Fact 8');
    await page.getByRole('option', { name: 'Fact 8', exact: true }).click();
    await page.locator('dialog.pane').getByText('Fact 8', { exact: true }).waitFor();
    const search = page.getByRole('searchbox');
    assert.equal(await search.inputValue(), 'Fact 8');
    const { promise: isOver, resolve: release } = Promise.withResolvers<void>();
    await page.route('**/api/memory/facts/?*', (route) => isOver.then(() => route.continue()));
    await page.goBack();
    await until(async () => (await search.inputValue()) === 'Fact 9');
    await page.keyboard.press('?');
    const list = page.getByRole('dialog', { name: 'Keys on the keyboard' });
    await list.getByText('this list').waitFor();
    // A pane that opens behind the list leaves it the focus.
    release();
    await page.locator('dialog.pane').getByText('Fact 9', { exact: true }).waitFor();
    await page.unroute('**/api/memory/facts/?*');
    await page.keyboard.press('Escape');
    await list.waitFor({ state: 'detached' });
  });

  it("the console's timeline names a session without messages by its project, its agent and the number of decisions", async () => {
    const permission = { session_id: 'only-decisions', source: 'codex', project: '/home/ada/site' };
    const events = [
      permissionEvent('npm test', 'allowed', permission),
      permissionEvent('git push', 'refused', permission),
      { ...permissionEvent('', 'allowed', permission), type: 'session.started', session_id: 'empty' },
    ];
    assert.equal((await client.post('/api/recording/events/', events)).status, 201);
    await goTo(page, 'Memory');
    await page.getByRole('link', { name: 'Timeline' }).click();
    await rowWith(page, 'site · codex · 2 decisions').waitFor();
    await rowWith(page, 'site · codex · no messages').waitFor();
  });

  it('a text from right to left that is too long for its row in the console shows its beginning', async () => {
    const text = 'אני שותה תה '.repeat(20);
    assert.equal((await client.post('/api/memory/facts/', { text })).status, 201);
    await page.getByRole('link', { name: 'Facts' }).click();
    const row = rowWith(page, text.trim());
    await row.waitFor();
    const isShown = await page.evaluate<boolean>(`(() => {
      const box = [...document.querySelectorAll('.a-row .text')].find((one) => one.textContent.startsWith('אני'));
      const first = document.createRange();
      first.setStart(box.firstChild.firstChild, 0);
      first.setEnd(box.firstChild.firstChild, 1);
      return first.getBoundingClientRect().right <= box.getBoundingClientRect().right + 1;
    })()`);
    assert.ok(isShown, 'its first letter is cut off');
  });

  it("the console's open tab is whole in the window of a phone, even when the counts of the other tabs arrive late", async () => {
    const phone = await personIn(at, { viewport: { width: 390, height: 844 } });
    const tab = await phone.open();
    await signUp(tab, phone.email);
    const { promise: isShown, resolve: release } = Promise.withResolvers<void>();
    await tab.route('**/api/memory/stats/', async (route) => {
      await isShown;
      await route.continue();
    });
    await goTo(tab, 'Memory');
    await tab.getByRole('link', { name: 'Timeline' }).click();
    const open = tab.locator('.tabs [aria-current]', { hasText: 'Timeline' });
    await open.waitFor();
    release();
    await tab.locator('.tabs .count').nth(2).waitFor();
    await until(async () => {
      const [nav, link] = await Promise.all([tab.locator('.tabs nav').boundingBox(), open.boundingBox()]);
      return nav && link && link.x >= nav.x && link.x + link.width <= nav.x + nav.width + 1;
    });
  });

  describe('forgetting many rows in the console', () => {
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
      const left = await at.system.sql<{ project: string }>(
        'select project from raw_memories where account_id = $1',
        [client.id],
      );
      assert.deepEqual([left.length, new Set(left.map(({ project }) => project))], [KEPT, new Set(['kept'])]);
      assert.deepEqual(person.complaints, []);
    }).timeout(180_000);
  });

  describe('sample person of the console', () => {
    it("the sample person's rows are marked, and one click removes them and nothing of the person's own", async () => {
      const { person, page } = await signUpInBrowser(at);
      const client = await clientOf(at.system, person);
      const rowsOf = async (tier: string) =>
        (await client.get<{ results: Row[] }>(`/api/memory/${tier}/?limit=200`)).body.results;
      const say = async (content: string) =>
        assert.equal((await client.post('/api/memory/raw/', { content, kind: 'reply' })).status, 201);
      await say('I always want the tests in a folder of their own.');
      await client.post('/api/memory/facts/', { text: 'I drink tea.' });
      await loadSample(page);
      // The person says the same as the sample person, and goes on recording.
      await say('rebase, I never want merge commits');
      await post(client, [event({ type: 'note', text: 'I deploy on Mondays.' })]);
      for (const step of ['sync', 'promote/episodes', 'promote/facts'])
        assert.equal((await client.post(`/api/memory/${step}/`, {})).status, 200);
      await goTo(page, 'Memory');
      const isSample = ({ project }: Row) => project === 'sample';
      const raw = await rowsOf('raw');
      assert.equal(raw.filter(isSample).length, 32);
      const own = raw.filter((row) => !isSample(row)).map(({ id }) => id);
      assert.equal(own.length, 3);
      const ownFacts = (await rowsOf('facts')).filter((row) => !isSample(row)).map(({ id }) => id);
      await page.getByLabel('Project').selectOption('sample');
      await rowWith(page, 'coverage').waitFor();
      await rowWith(page, 'I drink tea.').waitFor({ state: 'detached' });

      await goTo(page, 'Bring sessions');
      await press(page, 'Remove the sample person');
      await page.getByText('The sample person is gone.').waitFor();
      assert.deepEqual(
        (await rowsOf('raw')).map(({ id }) => id),
        own,
      );
      assert.equal((await rowsOf('episodes')).filter(isSample).length, 0);
      const facts = await rowsOf('facts');
      assert.equal(facts.filter(isSample).length, 0);
      assert.deepEqual(
        ownFacts.filter((id) => !facts.some((fact) => fact.id === id)),
        [],
      );
      // It is one click away again.
      await loadSample(page);
    }).timeout(120_000);
  });

  describe("console's page of decisions", () => {
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

  describe('a second change in the console while the first is saved', () => {
    it("the console saves an account's name that is changed again while the first change is saved", async () => {
      const { person, page } = await signUpInBrowser(at);
      const client = await clientOf(at.system, person);
      await goTo(page, 'Account');
      const release = await holdChange(page, '**/api/auth/me/');
      const name = page.getByLabel('Name', { exact: true });
      for (const typed of ['Ada', 'Ada Lovelace']) {
        const asked = typed === 'Ada' && page.waitForRequest((request) => request.method() === 'PATCH');
        await name.fill(typed);
        await name.press('Enter');
        await asked;
      }
      release();
      await page.getByText('Saved.').waitFor();
      assert.equal((await client.get<UserResponse>('/api/auth/me/')).body.name, 'Ada Lovelace');
    });

    it("the console saves an app's redirect URIs that are changed again while the first change is saved", async () => {
      const { page } = await signUpInBrowser(at);
      await goTo(page, 'Apps');
      await page.getByLabel('Name').fill('An editor');
      await press(page, 'Make an app');
      await page.getByRole('button', { name: 'Details: An editor' }).click();
      const release = await holdChange(page, '**/api/apps/*/');
      const uris = page.getByLabel(/redirect/i);
      const asked = page.waitForRequest((request) => request.method() === 'PATCH');
      await uris.fill('https://one.example/back');
      await press(page, 'Save');
      await asked;
      await uris.fill('https://two.example/back');
      await press(page, 'Save');
      release();
      await until(async () => {
        const [app] = await at.system.sql<{ uris: string }>(
          `select redirect_uris::text as uris from apps where name = 'An editor'`,
        );
        return app?.uris.includes('two.example');
      });
    });

    it('the console reads sessions that are chosen while it reads others', async () => {
      const { page } = await signUpInBrowser(at);
      await page.evaluate(`new Promise((installed) => {
        const read = Blob.prototype.arrayBuffer;
        const isReleased = new Promise((resolve) => { globalThis.release = resolve; });
        Blob.prototype.arrayBuffer = async function () {
          globalThis.isReading = true;
          await isReleased;
          return read.call(this);
        };
        installed();
      })`);
      const choose = (name: string, text: string) =>
        page
          .locator('input[type=file]:not([webkitdirectory])')
          .setInputFiles({ name, mimeType: 'application/jsonl', buffer: Buffer.from(text) });
      await choose('first.jsonl', '{}');
      await page.waitForFunction('globalThis.isReading');
      await choose('second.jsonl', claudeCodeFile('second'));
      await page.evaluate('globalThis.release()');
      await page.getByRole('button', { name: 'Send and learn from them' }).waitFor();
    });
  });
});
