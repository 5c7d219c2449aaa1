import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';
import { describeInBrowser, openBrowser } from '../support/browser.ts';
import { bundleForBrowser } from '../support/bundle.ts';

const STYLE = `
  body { margin: 20px; font: 16px/24px monospace }
  textarea, .editable { box-sizing: border-box; width: 400px; height: 100px; padding: 10px; border: 2px solid;
    font: inherit; overflow: auto }
  .pane { height: 200px; overflow: auto; border: 1px solid } .tall { height: 500px }`;
const TEXTAREA = '<textarea id="field"></textarea>';

/** Where the ghost text is, as seen from its field's corner, and how large the field appears, against its own size. */
interface Seen {
  left: number;
  top: number;
  scale: number;
}

describeInBrowser('where suggestions are shown', () => {
  let browser: Browser;
  let script: string;
  before(async () => {
    [browser, script] = await Promise.all([
      openBrowser(),
      bundleForBrowser(`
        import { attachCompleter } from './client/src/textarea.ts';
        const client = {
          predict: async ({ draft }) => {
            globalThis.asked = draft.text;
            return { request_id: '1', status: 'suggested', completion: ' GHOST' };
          },
          recordPredictionEvent: async () => {},
        };
        globalThis.attach = (field) => attachCompleter(field, client, { userId: 'u', minDelayMs: 5, maxDelayMs: 10 });`),
    ]);
  });
  after(() => browser?.close());

  async function open(body: string, attach = "attach(document.getElementById('field'))"): Promise<Page> {
    const page = await browser.newPage({ viewport: { width: 800, height: 600 } });
    page.setDefaultTimeout(10_000);
    await page.route('https://app.example/', (route) =>
      route.fulfill({ contentType: 'text/html', body: `<!doctype html><style>${STYLE}</style>${body}` }),
    );
    await page.goto('https://app.example/');
    await page.addScriptTag({ content: `(() => { ${script} })()` });
    await page.evaluate(attach);
    return page;
  }
  const ghost = (page: Page) => page.locator('[data-forecue=ghost]');
  async function type(page: Page, text = 'Hello'): Promise<void> {
    await page.locator('#field').focus();
    await page.keyboard.type(text);
    await ghost(page).filter({ hasText: 'GHOST' }).waitFor();
  }
  /** Waits for two frames, by which a change of layout has been followed. */
  const settle = (page: Page) =>
    page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  async function look(page: Page): Promise<Seen> {
    await settle(page);
    const [field, shown] = await Promise.all([
      page.locator('#field').boundingBox(),
      ghost(page).boundingBox(),
    ]);
    assert.ok(field && shown);
    const own = await page.locator('#field').evaluate((element) => Number(Object(element).offsetWidth));
    const scale = field.width / own;
    const seen = [(shown.x - field.x) / scale, (shown.y - field.y) / scale, scale];
    const [left = 0, top = 0, rounded = 0] = seen.map((value) => Math.round(value * 10) / 10);
    return { left, top, scale: rounded };
  }

  // Two borders, the padding, five letters of 16 px monospace; the line's height leaves some room above the letters.
  let plain: Seen;
  before(async () => {
    const page = await open(TEXTAREA);
    await type(page);
    plain = await look(page);
    await page.close();
    assert.ok(
      Math.abs(plain.left - 12 - 5 * 9.6) < 2 && plain.top >= 12 && plain.top < 20,
      JSON.stringify(plain),
    );
  });
  async function assertInPlace(page: Page, scale = 1): Promise<void> {
    const seen = await look(page);
    const isNear = Math.abs(seen.left - plain.left) < 0.6 && Math.abs(seen.top - plain.top) < 0.6;
    assert.ok(isNear && Math.abs(seen.scale - scale) < 0.05, JSON.stringify({ seen, plain }));
  }

  for (const [name, body, scale] of [
    ['a scrolled box', `<div class="pane"><div class="tall"></div>${TEXTAREA}</div>`],
    [
      'a scrolled box that is positioned',
      `<div class="pane" style="position: relative"><div class="tall"></div>${TEXTAREA}</div>`,
    ],
    [
      'a composer that sticks to the bottom',
      `<div class="tall"></div><div style="position: sticky; bottom: 0">${TEXTAREA}</div><div class="tall"></div>`,
    ],
    [
      'an enlarged element',
      `<div style="transform: translate(30px, 40px) scale(1.5); transform-origin: 0 0">${TEXTAREA}</div>`,
      1.5,
    ],
    ['an element with zoom', `<div style="zoom: 2; margin: 10px">${TEXTAREA}</div>`, 2],
    [
      'a field that is enlarged itself',
      TEXTAREA.replace('id', 'style="scale: 1.5; transform-origin: 0 0; translate: 20px 10px" id'),
      1.5,
    ],
    [
      'a grid with gaps and margins',
      `<style>.grid > * + * { margin: 50px }</style><div class="grid" style="display: grid; gap: 40px"><p>Text</p>${TEXTAREA}</div>`,
    ],
    [
      'a page whose styles reach for every element',
      `<style>div, span { display: block; position: static; width: 3em; float: right; font: 40px serif }</style>${TEXTAREA}`,
    ],
  ] as const)
    it(`a suggestion in ${name} stands where it would be typed`, async () => {
      const page = await open(body);
      await type(page);
      await assertInPlace(page, scale);
      await page.close();
    });

  it('a suggestion in a field that is turned upside down is turned with it', async () => {
    const page = await open(`<div style="rotate: 180deg; width: 400px; margin: 50px">${TEXTAREA}</div>`);
    await type(page);
    const [field, shown] = await Promise.all([
      page.locator('#field').boundingBox(),
      ghost(page).boundingBox(),
    ]);
    assert.ok(field && shown);
    assert.ok(Math.abs(field.x + field.width - shown.x - shown.width - plain.left) < 0.6);
    assert.ok(Math.abs(field.y + field.height - shown.y - shown.height - plain.top) < 0.6);
    await page.close();
  });

  for (const [name, body] of [
    ['a centred textarea', TEXTAREA.replace('id', 'style="text-align: center" id')],
    [
      'a centred input',
      '<input id="field" style="width: 400px; padding: 10px; border: 2px solid; font: inherit; text-align: center">',
    ],
    [
      'a centred element',
      '<div id="field" class="editable" contenteditable style="text-align: center"></div>',
    ],
  ] as const)
    it(`a suggestion in ${name} stands behind what was typed, not over it`, async () => {
      const page = await open(body);
      await page.locator('#field').focus();
      await page.keyboard.type('Hello');
      await page.waitForFunction("document.querySelector('[data-forecue=ghost]')?.textContent === ' GHOST'");
      await settle(page);
      const box = await page.locator('#field').boundingBox();
      const left = await ghost(page).evaluate((element) => Object(element).getClientRects()[0].x as number);
      assert.ok(box);
      const typedWidth = plain.left - 12;
      assert.ok(Math.abs(left - (box.x + box.width / 2 + typedWidth / 2)) < 2, JSON.stringify({ left, box }));
      await page.close();
    });

  for (const [name, change] of [
    ['is read-only by now', 'field.readOnly = true'],
    ['refuses what is typed', "field.addEventListener('beforeinput', (event) => event.preventDefault())"],
    ['shows dots by now', "field.type = 'password'"],
  ] as const)
    it(`no suggestion gets into a field that ${name}`, async () => {
      const page = await open('<input id="field"><button>Next</button>');
      await type(page);
      await page.evaluate(`const field = document.getElementById('field'); ${change}`);
      await settle(page);
      await page.keyboard.press('Tab');
      assert.equal(await page.locator('#field').inputValue(), 'Hello');
      await page.close();
    });

  it('a field with a `maxlength` shows only what fits into it', async () => {
    for (const [maxLength, shown] of [
      [11, ' GHOST'],
      [10, ''],
    ] as const) {
      const page = await open(TEXTAREA.replace('id', `maxlength="${maxLength}" id`));
      await page.locator('#field').focus();
      await page.keyboard.type('Hello');
      await page.waitForFunction("globalThis.asked === 'Hello'");
      await settle(page);
      assert.equal((await ghost(page).allTextContents()).join(''), shown);
      await page.close();
    }
  });

  for (const [name, style] of [
    ['a field of one line whose text is wider than it', 'width: 90px'],
    ['a field whose text ends at its edge', 'width: 400px; text-align: right'],
  ] as const)
    it(`Tab leaves ${name}, since a suggestion would be out of sight`, async () => {
      const page = await open(`<input id="field" style="${style}; font: inherit"><button>Next</button>`);
      await page.locator('#field').focus();
      await page.keyboard.type('Hello and good morning');
      await page.waitForFunction(
        "[...document.querySelectorAll('[data-forecue=ghost]')].every((ghost) => ghost.textContent === '')",
      );
      await page.keyboard.press('Tab');
      await page.waitForFunction("document.activeElement.textContent === 'Next'");
      assert.equal(await page.locator('#field').inputValue(), 'Hello and good morning');
      await page.close();
    });

  for (const [name, change] of [
    ['the layout of the page changes', "field.style.marginTop = '90px'"],
    [
      'something is put before the field',
      "field.before(Object.assign(document.createElement('h1'), { textContent: 'New' }))",
    ],
    ['the field gets smaller', "field.style.width = '200px'"],
    ['the page is scrolled', "document.body.style.height = '3000px'; window.scrollTo(0, 40)"],
    [
      'the field moves into another element',
      "const box = document.createElement('div'); box.style.margin = '70px'; document.body.append(box); box.append(field); field.focus()",
    ],
  ] as const)
    it(`a shown suggestion follows its field when ${name}`, async () => {
      const page = await open(TEXTAREA);
      await type(page);
      await page.evaluate(`const field = document.getElementById('field'); ${change}`);
      if (name.startsWith('the field moves')) await ghost(page).filter({ hasText: 'GHOST' }).waitFor();
      await assertInPlace(page);
      await page.close();
    });

  it('a suggestion in an editable element shows nothing while the caret is out of sight', async () => {
    const page = await open('<div id="field" class="editable" contenteditable></div>');
    await type(page);
    await page.evaluate("document.getElementById('field').style.cssText = 'width: 0; padding: 0'");
    await settle(page);
    assert.equal(await ghost(page).isVisible(), false);
    await page.close();
  });

  it('a suggestion in a textarea that is written from top to bottom stands behind what was typed', async () => {
    const page = await open(TEXTAREA.replace('id', 'style="writing-mode: vertical-rl; height: 300px" id'));
    await type(page);
    await settle(page);
    const [field, shown] = await Promise.all([
      page.locator('#field').boundingBox(),
      ghost(page).boundingBox(),
    ]);
    assert.ok(field && shown);
    assert.ok(shown.height > shown.width && shown.x > field.x + 300, JSON.stringify({ field, shown }));
    await page.close();
  });

  it('a suggestion shows nothing outside the box in which its field scrolls', async () => {
    const page = await open(`<div class="pane">${TEXTAREA}<div class="tall"></div></div>`);
    await type(page);
    await page.evaluate("document.querySelector('.pane').scrollTop = 30");
    await settle(page);
    const above = () => page.screenshot({ clip: { x: 0, y: 0, width: 800, height: 20 }, caret: 'hide' });
    const withGhost = await above();
    await page.keyboard.press('Escape');
    await settle(page);
    assert.ok(withGhost.equals(await above()));
    await page.close();
  });

  for (const [name, change] of [
    ['empties the field', "field.value = ''"],
    ['replaces the text', "field.value = 'Other'"],
    ['hides the field', "field.style.display = 'none'"],
    ['takes the field away', 'field.remove()'],
    ['replaces the field', 'field.replaceWith(field.cloneNode())'],
    ['makes the field read-only', 'field.readOnly = true'],
    ['draws everything anew', "document.body.innerHTML = '<textarea></textarea>'"],
  ] as const)
    it(`no suggestion is left over when the page ${name}`, async () => {
      const page = await open(TEXTAREA);
      await type(page);
      // Whatever is shown next would be for another text.
      await page.evaluate(`const field = document.getElementById('field'); ${change};
        globalThis.stale = () => [...document.querySelectorAll('[data-forecue=ghost]')].some((ghost) =>
          ghost.getClientRects().length > 0 && ghost.previousSibling?.textContent === 'Hello')`);
      await settle(page);
      assert.equal(await page.evaluate('stale()'), false);
      await page.close();
    });

  it('a suggestion in a shadow root stands where it would be typed, and Tab accepts it', async () => {
    const page = await open(
      '<div class="pane"><div class="tall"></div><x-editor></x-editor></div>',
      `const root = document.querySelector('x-editor').attachShadow({ mode: 'open' });
       root.innerHTML = \`<style>${STYLE}</style>${TEXTAREA}\`;
       attach(root.getElementById('field'));`,
    );
    await type(page);
    await assertInPlace(page);
    await page.keyboard.press('Tab');
    assert.equal(await page.locator('#field').inputValue(), 'Hello GHOST');
    await page.close();
  });

  it('a suggestion in a frame stands where it would be typed, for the page that owns the frame', async () => {
    const page = await open(
      '<iframe style="margin: 30px; width: 500px; height: 300px"></iframe>',
      `const inner = document.querySelector('iframe').contentDocument;
       inner.write(\`<!doctype html><style>${STYLE}</style>${TEXTAREA}\`);
       inner.close();
       attach(inner.getElementById('field'));`,
    );
    const frame = page.frameLocator('iframe');
    await frame.locator('#field').focus();
    await page.keyboard.type('Hello');
    const shown = frame.locator('[data-forecue=ghost]').filter({ hasText: 'GHOST' });
    await shown.waitFor();
    const [field, box] = await Promise.all([frame.locator('#field').boundingBox(), shown.boundingBox()]);
    assert.ok(field && box && Math.abs(box.x - field.x - plain.left) < 0.6, JSON.stringify({ field, box }));
    await page.keyboard.press('Tab');
    assert.equal(await frame.locator('#field').inputValue(), 'Hello GHOST');
    await page.close();
  });

  for (const [name, field] of [
    ['an editable element', '<div id="field" class="editable" contenteditable></div>'],
    [
      'an editable element with large type inside',
      '<div id="field" class="editable" contenteditable style="font-size: 30px; line-height: 1.2"></div>',
    ],
    [
      'an editable element with paragraphs',
      '<div id="field" class="editable" contenteditable><p style="margin: 8px">One.</p><p style="margin: 8px"><b>Two.</b></p></div>',
    ],
    ['an editable word of a line', '<p>To: <span id="field" contenteditable></span></p>'],
    ['an input', '<input id="field" style="width: 300px; height: 44px; padding: 5px 12px; font: inherit">'],
    ['a search field', '<input id="field" type="search" style="width: 300px; font: inherit">'],
  ] as const)
    it(`a suggestion in ${name} stands where the accepted text then is`, async () => {
      const page = await open(`<div class="pane"><div class="tall"></div>${field}</div>`);
      await page.locator('#field').focus();
      const hasValue = await page.locator('#field').evaluate((element) => 'value' in element);
      const atEnd =
        'getSelection().selectAllChildren(document.activeElement), getSelection().collapseToEnd()';
      if (!hasValue) await page.evaluate(atEnd);
      await type(page);
      await settle(page);
      const shown = await ghost(page).boundingBox();
      const box = await page.locator('#field').boundingBox();
      assert.ok(shown && box);
      if (hasValue) {
        const isCentred = Math.abs(shown.y + shown.height / 2 - box.y - box.height / 2) < 1;
        assert.ok(isCentred && shown.x > box.x + 30 && shown.x < box.x + 90, JSON.stringify({ shown, box }));
        return page.close();
      }
      await page.keyboard.press('Tab');
      // The first letter of the suggestion is the space.
      const typed = (await page.evaluate(`(() => {
        const { anchorNode, anchorOffset } = getSelection();
        const range = document.createRange();
        range.setStart(anchorNode, anchorOffset - ' GHOST'.length);
        range.setEnd(anchorNode, anchorOffset);
        const { x, y, width } = range.getBoundingClientRect();
        return { x, y, width };
      })()`)) as { x: number; y: number; width: number };
      const off = [shown.x - typed.x, shown.y - typed.y, shown.width - typed.width];
      assert.ok(
        off.every((value) => Math.abs(value) < 1.5),
        JSON.stringify({ shown, typed }),
      );
      await page.close();
    });
});
