import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { UserClient } from '../support/account.ts';
import { faultsOn } from '../support/axe.ts';
import { describeInBrowser } from '../support/browser.ts';
import { add } from '../support/memory.ts';
import { pluck } from '../support/pluck.ts';
import { clientOf, goTo, openRow, type Person, press, signUpInBrowser, useConsole } from './visit.ts';

const PHONE = { width: 390, height: 844 };
const DESKTOP = { width: 1440, height: 900 };

const HACK_SCRIPT = 'window.hacked=1';
/** Prefixes that end the element, attribute, comment, style or script around a text; the first has no effect. */
const ESCAPE_PREFIXES = ['', '">', "'>", '-->', '</textarea>', '</title>', '</style>', '</script>', '&#60;'];
/** Markup that runs code or requests something. */
const MARKUP = [
  `img src=x onerror="${HACK_SCRIPT}">`,
  `script>${HACK_SCRIPT}</script>`,
  `svg/onload=${HACK_SCRIPT}>`,
  `iframe srcdoc="&lt;script&gt;parent.hacked=1&lt;/script&gt;">`,
  `details open ontoggle=${HACK_SCRIPT}>`,
  `body onpageshow=${HACK_SCRIPT}>`,
  `input autofocus onfocus=${HACK_SCRIPT}>`,
  `a href="javascript:${HACK_SCRIPT}" id=content>x</a>`,
  `form action=https://evil.example><button>Sign in</button></form>`,
];
/** Texts that look like markup, code or escapes, or that leave their line or box. */
const ODD_TEXTS = [
  '<img src=x onerror="window.hacked = 1">',
  '<script>window.hacked = 1</script>',
  '<style>* { display: none }</style>',
  '<iframe srcdoc="<script>parent.hacked = 1</script>"></iframe>',
  '{{constructor.constructor("window.hacked = 1")()}}',
  "javascript:window.hacked='1'",
  '\u202Egnp.exe\u2066 reversed',
  '\u200B\u200D\uFEFF\u2060 zero width',
  `${'e\u0301\u0302\u0303'.repeat(60)} combining`,
  'W'.repeat(5000),
  `${'long words '.repeat(720)}end`,
  '&lt;b&gt;not bold&lt;/b&gt; &amp;',
  '</bdi></li></ul></main><h1>Escaped</h1>',
  '\u2067\u202Eevil\u2069 isolates',
  '\u{E0041}\u{E0042} tags',
  '\uFFFD\uFFFE\u{1F468}\u200D\u{1F469}\u200D\u{1F467} joined',
  '\u2028a line separator',
  '%3Cscript%3Ealert(1)%3C/script%3E%00',
  '\u001b[2J\u001b]0;terminal\u0007 sequences',
];
const HOSTILE_TEXTS = [
  ...ODD_TEXTS,
  ...ESCAPE_PREFIXES.flatMap((before) => MARKUP.map((markup) => `${before}<${markup}`)),
];

describeInBrowser('hostile texts', () => {
  const at = useConsole();
  let person: Person;
  let page: Page;
  let client: UserClient;

  before(async () => {
    assert.equal(new Set(HOSTILE_TEXTS).size, 100);
    ({ person, page } = await signUpInBrowser(at));
    client = await clientOf(at.system, person);
  });

  /** Asserts that no text ran or became an element, and that nothing is wider than the window. */
  async function assertHarmless(): Promise<void> {
    assert.equal(await page.evaluate('window.hacked'), undefined);
    for (const tag of [
      'iframe',
      'img',
      'main script',
      'main style',
      'main form[action]',
      'main a[href^="javascript"]',
    ])
      assert.equal(await page.locator(tag).count(), 0, tag);
    for (const size of [DESKTOP, PHONE]) {
      await page.setViewportSize(size);
      const surplus = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      assert.ok((await page.evaluate<number>(surplus)) <= 0, 'something is too wide');
    }
    await page.setViewportSize(DESKTOP);
    assert.deepEqual(person.complaints, []);
  }

  /** Asserts that each of the texts is among those shown, character for character up to `length`. */
  function assertAmong(shown: readonly string[], texts: readonly string[], length = 500): void {
    for (const text of texts)
      assert.ok(
        shown.some((one) => one.trim().startsWith(text.slice(0, length).trim())),
        text.slice(0, 60),
      );
  }

  const textsAt = (selector: string) => page.locator(selector).allTextContents();

  /** Scrolls through a list that keeps only visible rows in the page, and returns all its texts. */
  async function allListTexts(): Promise<string[]> {
    const shown = new Set<string>();
    await page.locator('.rows > li').first().waitFor();
    for (let isOver = false; !isOver; ) {
      for (const text of await textsAt('.rows .name')) shown.add(text);
      isOver = await page.evaluate<boolean>(`new Promise((resolve) => {
        const before = scrollY;
        scrollBy(0, 1000);
        const isLast = () => {
          const last = document.querySelector('.rows > li:last-child');
          return last !== null && last.ariaPosInSet === last.ariaSetSize;
        };
        requestAnimationFrame(() => requestAnimationFrame(() => resolve(scrollY === before && isLast())));
      })`);
    }
    return [...shown];
  }

  it('the console shows a hundred hostile messages, episodes and facts as plain text', async () => {
    const source = (text: string) => text.slice(0, 60);
    for (const content of HOSTILE_TEXTS)
      await Promise.all([
        add(client, 'raw', { content, kind: 'message', role: 'human', source: source(content) }),
        add(client, 'episodes', { title: content.slice(0, 200), summary: content }),
        add(client, 'facts', { text: content.slice(0, 2000) }),
      ]);
    for (const tier of ['Messages', 'Episodes', 'Facts']) {
      await goTo(page, 'Memory');
      await page
        .getByRole('navigation', { name: 'Memory' })
        .getByRole('link', { name: new RegExp(tier) })
        .click();
      assertAmong(await allListTexts(), HOSTILE_TEXTS, 200);
      // The earliest rows, among them the longest text, are last.
      const pane = await openRow(page, 'WWWWW');
      await pane.getByRole('button', { name: 'Show all of it' }).click();
      await assertHarmless();
    }
    assert.deepEqual(await faultsOn(page), []);
  }).timeout(120_000);

  it('the console shows fifty hostile questions, agents and candidates as plain text', async () => {
    const asked = HOSTILE_TEXTS.slice(0, 50);
    const prompts = asked.map((agent_input) => ({ agent: agent_input.slice(0, 200), agent_input }));
    const { status, text } = await client.post('/api/predictions/predict/batch/', { prompts, threshold: 1 });
    assert.equal(status, 200, text);
    await goTo(page, 'Inbox');
    await press(page, '49 more of this batch');
    const shown: string[] = [];
    for (let nth = 0; nth < 50; nth += 1) {
      await page.locator('blockquote').waitFor();
      shown.push(...(await textsAt('blockquote .words')));
      assert.equal(await page.evaluate('window.hacked'), undefined);
      await page.keyboard.press('j');
      if (nth < 49)
        await page
          .locator('.waiting li')
          .nth(nth + 1)
          .locator('[aria-current=true]')
          .waitFor();
    }
    assertAmong(shown, asked);
    await assertHarmless();
    await goTo(page, 'Overview');
    await page.locator('.a-row').nth(5).waitFor();
    await assertHarmless();
    await goTo(page, 'Try it');
    await page.getByLabel('What it asks').fill(HOSTILE_TEXTS.slice(0, 8).join('\n'));
    await press(page, 'Predict my reply');
    await page.getByRole('heading', { name: 'What it rests on' }).waitFor();
    for (const text of ODD_TEXTS) {
      await page.getByLabel('Your reply to it').fill(text.slice(0, 2000));
      await page.getByLabel('What it asks').fill(text.slice(0, 2000));
    }
    await page.getByLabel('Your reply to it').pressSequentially(' <img');
    await page.getByText(/^What it rests on \(/).click();
    await page.locator('details[open] .quotes').first().waitFor();
    await assertHarmless();
    await goTo(page, 'Inbox');
    await page.getByText('Predict many at once').click();
    await page.getByLabel('What the agent asks').fill(HOSTILE_TEXTS.slice(0, 20).join('\n'));
    await press(page, 'Predict them');
    await page.getByText(/^(\d+) of \1 are ready/).waitFor();
    await assertHarmless();
  }).timeout(120_000);

  it("the console's timeline shows hostile texts as plain text, and at least the last fifty sessions", async () => {
    const events = HOSTILE_TEXTS.map((text, nth) => ({
      id: `hostile-${nth}`,
      type: 'user.message',
      session_id: `hostile-${nth}`,
      source: text.slice(0, 200).replaceAll(/\p{Cc}/gu, ' '),
      text,
      occurred_at: '2026-11-20T10:00:00Z',
    }));
    const recorded = await client.post('/api/recording/events/', events);
    assert.equal(recorded.status, 201, recorded.text);
    await client.post('/api/memory/sync/', {});
    await goTo(page, 'Memory');
    await page.getByRole('link', { name: 'Timeline' }).click();
    assertAmong(await allListTexts(), pluck(events.slice(-50), 'text'), 80);
    await page.locator('.a-row .main').last().click();
    await page.locator('.stages').waitFor();
    await assertHarmless();
  }).timeout(120_000);

  it('the console shows hostile key labels, profile fields and names of persons as plain text', async () => {
    for (const text of HOSTILE_TEXTS.slice(0, 99)) {
      const { status } = await client.post('/api/auth/keys/', { label: text.slice(0, 200) });
      assert.equal(status, 201);
    }
    await goTo(page, 'Keys');
    await page.locator('[aria-setsize="99"]').first().waitFor();
    await assertHarmless();
    const summary = HOSTILE_TEXTS.filter(({ length }) => length < 100)
      .join('\n')
      .slice(0, 8000);
    await client.post('/api/memory/profile/', {
      summary,
      data: Object.fromEntries(
        HOSTILE_TEXTS.map((text, nth) => [text.slice(0, 80) + nth, text.slice(0, 500)]),
      ),
    });
    await client.request('PATCH', '/api/auth/me/', { name: (HOSTILE_TEXTS[0] ?? '').slice(0, 200) });
    for (const path of ['#/memory/profile', '#/account']) {
      const other = await person.open(path);
      await other.getByRole('main').getByRole('textbox').first().waitFor();
      assert.equal(await other.evaluate('window.hacked'), undefined);
      await other.close();
    }
    await assertHarmless();
  }).timeout(120_000);
});
