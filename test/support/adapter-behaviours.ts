import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';

/**
 * Client that suggests ", and so on." after each draft, or something in Hebrew after one in Hebrew, with an alternative.
 * It records the drafts and events that it is given: all events in the order of arrival, and those of each request.
 */
export const FAKE_CLIENT = `
  globalThis.events = [];
  globalThis.eventsOf = {};
  globalThis.drafts = [];
  const client = {
    async predict({ draft }) {
      drafts.push(draft.text);
      const completion = draft.text.startsWith('שלום') ? ' עולם טוב מאוד' : ', and so on.';
      return { request_id: String(drafts.length), status: 'suggested', completion, alternatives: [' or coffee.'] };
    },
    async recordPredictionEvent({ request_id, kind }) {
      events.push(kind);
      (eventsOf[request_id] ??= []).push(kind);
      return { status: 'recorded' };
    },
  };
  const options = { userId: 'u', minDelayMs: 10, maxDelayMs: 20 };
`;

export const ghost = (page: Page) => page.locator('[data-forecue=ghost]');

export const waitForSuggestion = (page: Page, text: string) =>
  ghost(page).filter({ hasText: text }).waitFor();

export async function waitUntilHidden(page: Page): Promise<void> {
  await page.waitForFunction(`[...document.querySelectorAll('[data-forecue=ghost]')].every((ghost) =>
    ghost.textContent === '' || ghost.getClientRects().length === 0)`);
}

/** Makes the field read-only. An editor that needs more for it has a `lock` of its own. */
const LOCK = `{
  const field = document.activeElement;
  if (globalThis.lock) lock();
  else if ('value' in field) field.readOnly = true;
  else field.contentEditable = 'false';
}`;

/** What every adapter does. `open` opens a page whose one field has the focus and the adapter named `name`. */
export function testAdapter(name: string, open: () => Promise<Page>): void {
  describe(`in ${name}`, () => {
    let page: Page;
    beforeEach(async () => {
      page = await open();
    });
    afterEach(() => page.close());
    const typeTea = async () => {
      await page.keyboard.type('Tea');
      await page.waitForFunction("drafts.at(-1) === 'Tea'");
      await waitForSuggestion(page, ', and so on.');
    };
    const isTyped = (text: string) =>
      page.waitForFunction((text) => Object(globalThis).typed() === text, text);

    it(`no suggestion gets into ${name} once it is read-only`, async () => {
      await typeTea();
      await page.evaluate(LOCK);
      await waitUntilHidden(page);
      await page.keyboard.press('Tab');
      await isTyped('Tea');
    });

    it(`a suggestion in ${name} shrinks as the person types it, and Tab accepts the rest`, async () => {
      await typeTea();
      await page.keyboard.type(', and');
      await waitForSuggestion(page, ' so on.');
      await page.keyboard.press('Tab');
      await isTyped('Tea, and so on.');
      await page.waitForFunction("events.includes('accepted')");
      const isAskedBetween = "drafts.some((one) => one.startsWith('Tea,') && one !== typed())";
      assert.equal(await page.evaluate(isAskedBetween), false);
    });

    it(`a suggestion in ${name} can be accepted word by word`, async () => {
      await typeTea();
      await page.keyboard.press('Control+ArrowRight');
      await page.keyboard.press('Control+ArrowRight');
      await isTyped('Tea, and');
      await waitForSuggestion(page, ' so on.');
    });

    it(`a suggestion in ${name} is dismissed by Escape, and another is shown once the text changes`, async () => {
      await typeTea();
      await page.keyboard.press('Escape');
      await waitUntilHidden(page);
      await page.waitForFunction("events.slice(-2).join() === 'presented,dismissed'");
      await page.keyboard.type('s');
      await waitForSuggestion(page, ', and so on.');
      assert.equal(await page.evaluate('typed()'), 'Teas');
    });

    it(`Alt+] in ${name} shows another suggestion, and Alt+[ the first again`, async () => {
      await typeTea();
      await page.keyboard.press('Alt+BracketRight');
      await waitForSuggestion(page, ' or coffee.');
      await page.keyboard.press('Alt+BracketLeft');
      await waitForSuggestion(page, ', and so on.');
      assert.equal(await page.evaluate('typed()'), 'Tea');
    });

    it(`a suggestion in ${name} is hidden while an input method composes, and then continues the composed text`, async () => {
      await typeTea();
      const devTools = await page.context().newCDPSession(page);
      await devTools.send('Input.imeSetComposition', { text: '茶', selectionStart: 1, selectionEnd: 1 });
      await waitUntilHidden(page);
      await devTools.send('Input.insertText', { text: '茶' });
      await waitForSuggestion(page, ', and so on.');
      assert.equal(await page.evaluate('drafts.at(-1)'), 'Tea茶');
      await page.keyboard.press('Tab');
      await isTyped('Tea茶, and so on.');
    });

    it(`an undo in ${name} takes back what was accepted, and nothing else`, async () => {
      await typeTea();
      await page.keyboard.press('Tab');
      await isTyped('Tea, and so on.');
      await page.keyboard.press('Control+z');
      await isTyped('Tea');
    });

    it(`a suggestion in ${name} from right to left is accepted word by word by Ctrl+←`, async () => {
      await page.evaluate("document.documentElement.dir = 'rtl'");
      await page.keyboard.type('שלום');
      await waitForSuggestion(page, ' עולם טוב מאוד');
      await page.keyboard.press('Control+ArrowLeft');
      await isTyped('שלום עולם');
      await waitForSuggestion(page, ' טוב מאוד');
    });

    it(`a screen reader is told of a suggestion in ${name}, and of the key that accepts it`, async () => {
      const told = page.locator('[role=status]').filter({ hasText: '(Tab)' });
      await typeTea();
      assert.deepEqual(await told.allTextContents(), [', and so on. (Tab)']);
      assert.equal(
        await ghost(page).and(page.locator('[aria-hidden=true] *, [aria-hidden=true]')).count(),
        1,
      );
      await page.keyboard.press('Escape');
      await told.waitFor({ state: 'detached' });
    });
  });
}

/** Opens an empty page over https, for modules that need a secure context, and runs the script in it. */
export async function openPage(browser: Pick<Browser, 'newPage'>, script: string, style = ''): Promise<Page> {
  const page = await browser.newPage();
  page.setDefaultTimeout(10_000);
  await page.route('https://app.example/', (route) =>
    route.fulfill({
      contentType: 'text/html',
      body: `<!doctype html><meta name="viewport" content="width=device-width"><style>${style}</style><body>`,
    }),
  );
  await page.goto('https://app.example/');
  await page.addScriptTag({ type: 'module', content: `${script}\nglobalThis.isReady = true;` });
  await page.waitForFunction('globalThis.isReady');
  return page;
}
