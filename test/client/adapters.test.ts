import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';
import {
  FAKE_CLIENT,
  openPage,
  testAdapter,
  waitForSuggestion,
  waitUntilHidden,
} from '../support/adapter-behaviours.ts';
import { describeInBrowser, openBrowser } from '../support/browser.ts';
import { bundleForBrowser } from '../support/bundle.ts';

const FIELDS = {
  'a textarea': `
    import { attachCompleter } from './client/src/textarea.ts';
    ${FAKE_CLIENT}
    const field = document.createElement('textarea');
    document.body.append(field);
    globalThis.completer = attachCompleter(field, client, options);
    globalThis.typed = () => field.value;`,
  'an input': `
    import { attachCompleter } from './client/src/textarea.ts';
    ${FAKE_CLIENT}
    const field = document.createElement('input');
    document.body.append(field);
    globalThis.completer = attachCompleter(field, client, options);
    globalThis.typed = () => field.value;`,
  'an editable element': `
    import { attachCompleter } from './client/src/textarea.ts';
    ${FAKE_CLIENT}
    const field = document.createElement('div');
    field.contentEditable = 'plaintext-only';
    field.style.whiteSpace = 'pre-wrap';
    document.body.append(field);
    globalThis.completer = attachCompleter(field, client, options);
    globalThis.typed = () => field.textContent;`,
  CodeMirror: `
    import { history, historyKeymap } from '@codemirror/commands';
    import { EditorState, StateEffect } from '@codemirror/state';
    import { EditorView, keymap } from '@codemirror/view';
    import { inlineSuggestions } from './client/src/codemirror.ts';
    ${FAKE_CLIENT}
    const extensions = [history(), keymap.of(historyKeymap), inlineSuggestions(client, options)];
    const view = new EditorView({ parent: document.body, extensions });
    globalThis.lock = () => view.dispatch({ effects: StateEffect.appendConfig.of(EditorState.readOnly.of(true)) });
    globalThis.typed = () => view.state.doc.toString();`,
  "React's component": `
    import { StrictMode, useState } from 'react';
    import { createRoot } from 'react-dom/client';
    import { ForecueTextarea } from './client/src/react.ts';
    ${FAKE_CLIENT}
    function Field() {
      const [text, setText] = useState('');
      globalThis.typed = () => text;
      return <ForecueTextarea client={client} completer={options} value={text}
        onChange={(event) => setText(event.target.value)} />;
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
    const page = await openPage(browser, await bundleForBrowser(source));
    await page.locator('textarea, [contenteditable], input').first().click();
    return page;
  }

  for (const [name, source] of Object.entries(FIELDS)) testAdapter(name, () => open(source));

  it('a suggestion in a textarea is shown only while the caret is at the end', async () => {
    const page = await open(FIELDS['a textarea']);
    await page.keyboard.type('Tea');
    await waitForSuggestion(page, ', and so on.');
    await page.keyboard.press('ArrowLeft');
    await waitUntilHidden(page);
    await page.close();
  });

  it('a completer suggests at once in a textarea in which somebody has begun to type', async () => {
    const attach = 'globalThis.completer = attachCompleter';
    const page = await open(FIELDS['a textarea'].replace(attach, `globalThis.attach = () => ${attach}`));
    await page.keyboard.type('Tea');
    await page.evaluate('attach()');
    await waitForSuggestion(page, ', and so on.');
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

  it('Tab leaves a textarea once its completer is closed, and nothing of the completer is left in the page', async () => {
    const page = await open(FIELDS['a textarea']);
    await page.keyboard.type('Tea');
    await waitForSuggestion(page, ', and so on.');
    await page.evaluate('completer.close()');
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate('document.activeElement.tagName'), 'BODY');
    assert.equal(await page.evaluate("document.querySelectorAll('[data-forecue], [role=status]').length"), 0);
    await page.close();
  });

  it("React's component takes a `ref` and follows `enabled`, and its suggestions go with it", async () => {
    const page = await open(`
      import { createRef, useState } from 'react';
      import { createRoot } from 'react-dom/client';
      import { ForecueTextarea } from './client/src/react.ts';
      ${FAKE_CLIENT}
      globalThis.field = createRef();
      function Field() {
        const [enabled, setEnabled] = useState(true);
        globalThis.setEnabled = setEnabled;
        return <ForecueTextarea client={client} completer={{ ...options, enabled }} ref={field} />;
      }
      const main = document.createElement('main');
      document.body.append(main);
      const root = createRoot(main);
      root.render(<Field />);
      globalThis.leave = () => root.render(null);`);
    await page.keyboard.type('Tea');
    await waitForSuggestion(page, ', and so on.');
    assert.equal(await page.evaluate('field.current.value'), 'Tea');
    await page.evaluate('setEnabled(false)');
    await waitUntilHidden(page);
    await page.evaluate('setEnabled(true)');
    await page.keyboard.type('s');
    await waitForSuggestion(page, ', and so on.');
    await page.evaluate('leave()');
    await page.waitForFunction("document.querySelectorAll('[data-forecue], [role=status]').length === 0");
    await page.close();
  });
});
