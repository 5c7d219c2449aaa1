import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';
import { describeInBrowser, openBrowser } from '../support/browser.ts';
import { bundleForBrowser } from '../support/bundle.ts';

/**
 * Client that suggests ", and so on." after each draft, and records the drafts and events that it is given: all events
 * in the order of arrival, and those of each request.
 */
const CLIENT = `
  globalThis.events = [];
  globalThis.eventsOf = {};
  globalThis.drafts = [];
  const client = {
    async predict({ draft }) {
      drafts.push(draft.text);
      return { request_id: String(drafts.length), status: 'suggested', completion: ', and so on.' };
    },
    async recordPredictionEvent({ request_id, kind }) {
      events.push(kind);
      (eventsOf[request_id] ??= []).push(kind);
      return { status: 'recorded' };
    },
  };
  const options = { userId: 'u', minDelayMs: 10, maxDelayMs: 20 };
`;
const FIELDS = {
  'a textarea': `
    import { attachCompleter } from './client/src/textarea.ts';
    ${CLIENT}
    const field = document.createElement('textarea');
    document.body.append(field);
    globalThis.completer = attachCompleter(field, client, options);
    globalThis.typed = () => field.value;`,
  'an editable element': `
    import { attachCompleter } from './client/src/textarea.ts';
    ${CLIENT}
    const field = document.createElement('div');
    field.contentEditable = 'plaintext-only';
    field.style.whiteSpace = 'pre-wrap';
    document.body.append(field);
    globalThis.completer = attachCompleter(field, client, options);
    globalThis.typed = () => field.textContent;`,
  CodeMirror: `
    import { EditorView } from '@codemirror/view';
    import { inlineSuggestions } from './client/src/codemirror.ts';
    ${CLIENT}
    const view = new EditorView({ parent: document.body, extensions: [inlineSuggestions(client, options)] });
    globalThis.typed = () => view.state.doc.toString();`,
  'a field of React': `
    import { StrictMode, useState } from 'react';
    import { createRoot } from 'react-dom/client';
    import { useCompleter } from './client/src/react.ts';
    ${CLIENT}
    function Field() {
      const [text, setText] = useState('');
      const [suggestion, completer] = useCompleter(client, options);
      const change = (next) => { setText(next); completer.update(next); };
      const press = (event) => {
        if (!suggestion) return;
        if (event.key === 'Tab') change(text + completer.accept());
        else if (event.key === 'ArrowRight' && event.ctrlKey) change(text + completer.acceptWord());
        else if (event.key === 'Escape') completer.dismiss();
        else return;
        event.preventDefault();
      };
      globalThis.typed = () => text;
      return <><input value={text} onChange={(event) => change(event.target.value)} onKeyDown={press} />
        <span data-forecue="ghost">{suggestion}</span></>;
    }
    const root = document.createElement('main');
    document.body.append(root);
    createRoot(root).render(<StrictMode><Field /></StrictMode>);`,
};

describeInBrowser('suggestion in Chromium', () => {
  let browser: Browser;
  before(async () => {
    browser = await openBrowser();
  });
  after(() => browser?.close());

  async function open(source: string): Promise<Page> {
    const page = await browser.newPage();
    page.setDefaultTimeout(10_000);
    // Serves the page over https, for modules that need a secure context.
    await page.route('https://app.example/', (route) =>
      route.fulfill({ contentType: 'text/html', body: '<!doctype html><body>' }),
    );
    await page.goto('https://app.example/');
    await page.addScriptTag({ type: 'module', content: await bundleForBrowser(source) });
    await page.locator('textarea, [contenteditable], input').first().click();
    return page;
  }
  const ghost = (page: Page) => page.locator('[data-forecue=ghost]');
  const waitForSuggestion = (page: Page, text: string) => ghost(page).filter({ hasText: text }).waitFor();
  const waitUntilHidden = async (page: Page) => {
    for (const one of await ghost(page).all())
      if ((await one.textContent()) !== '') await one.waitFor({ state: 'hidden' });
  };

  for (const [name, source] of Object.entries(FIELDS))
    describe(`in ${name}`, () => {
      let page: Page;
      beforeEach(async () => {
        page = await open(source);
      });
      afterEach(() => page.close());

      it(`a suggestion in ${name} shrinks as the person types it, and Tab accepts the rest`, async () => {
        await page.keyboard.type('Tea');
        await waitForSuggestion(page, ', and so on.');
        await page.keyboard.type(', and');
        await waitForSuggestion(page, ' so on.');
        await page.keyboard.press('Tab');
        await page.waitForFunction("typed() === 'Tea, and so on.'");
        await page.waitForFunction("events.includes('accepted')");
        assert.equal(
          await page.evaluate("drafts.some((one) => one.startsWith('Tea,') && one !== typed())"),
          false,
        );
      });

      it(`a suggestion in ${name} can be accepted word by word`, async () => {
        await page.keyboard.type('Tea');
        await waitForSuggestion(page, ', and so on.');
        await page.keyboard.press('Control+ArrowRight');
        await page.keyboard.press('Control+ArrowRight');
        await page.waitForFunction("typed() === 'Tea, and'");
        await waitForSuggestion(page, ' so on.');
      });

      it(`a suggestion in ${name} is dismissed by Escape, and another is shown once the text changes`, async () => {
        await page.keyboard.type('Tea');
        await waitForSuggestion(page, ', and so on.');
        await page.keyboard.press('Escape');
        await waitUntilHidden(page);
        await page.waitForFunction("events.slice(-2).join() === 'presented,dismissed'");
        await page.keyboard.type('s');
        await waitForSuggestion(page, ', and so on.');
        assert.equal(await page.evaluate('typed()'), 'Teas');
      });
    });

  it('a suggestion in CodeMirror is hidden while an input method composes, and then continues the composed text', async () => {
    const page = await open(FIELDS.CodeMirror);
    await page.keyboard.type('Tea');
    await waitForSuggestion(page, ', and so on.');
    const devTools = await page.context().newCDPSession(page);
    await devTools.send('Input.imeSetComposition', { text: '茶', selectionStart: 1, selectionEnd: 1 });
    await waitUntilHidden(page);
    await devTools.send('Input.insertText', { text: '茶' });
    await waitForSuggestion(page, ', and so on.');
    assert.equal(await page.evaluate('drafts.at(-1)'), 'Tea茶');
    await page.keyboard.press('Tab');
    await page.waitForFunction("typed() === 'Tea茶, and so on.'");
    await page.close();
  });

  it('a suggestion in a textarea follows the text, and is shown only while the caret is at the end', async () => {
    const page = await open(FIELDS['a textarea']);
    await page.keyboard.type('Tea');
    await waitForSuggestion(page, ', and so on.');
    const [field, shown] = await Promise.all([
      page.locator('textarea').boundingBox(),
      ghost(page).boundingBox(),
    ]);
    assert.ok(field && shown && shown.x > field.x + 20 && shown.y >= field.y && shown.y < field.y + 20);
    assert.equal(await page.getByRole('status').textContent(), ', and so on. (Tab)');
    await page.keyboard.press('ArrowLeft');
    await waitUntilHidden(page);
    await page.close();
  });

  it('an accepted suggestion in a textarea is reported as edited if the person changes the middle of the text', async () => {
    const page = await open(FIELDS['a textarea']);
    await page.keyboard.type('Tea');
    await waitForSuggestion(page, ', and so on.');
    await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Backspace');
    await page.locator('textarea').blur();
    await page.evaluate('completer.submit()');
    // The text after Tab has a suggestion of its own, whose events may come in between.
    const accepted = 'Object.values(eventsOf).find((kinds) => kinds.includes("accepted"))';
    assert.deepEqual(await page.evaluate(accepted), ['presented', 'accepted', 'edited', 'submitted']);
    await page.close();
  });

  it('Ctrl+Z in a textarea undoes an accepted suggestion, and Tab leaves the field once the completer is closed', async () => {
    const page = await open(FIELDS['a textarea']);
    await page.keyboard.type('Tea');
    await waitForSuggestion(page, ', and so on.');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Control+z');
    await page.waitForFunction("!typed().includes('so on')");
    await page.evaluate('completer.close()');
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate('document.activeElement.tagName'), 'BODY');
    assert.equal(await ghost(page).count(), 0);
    await page.close();
  });
});
