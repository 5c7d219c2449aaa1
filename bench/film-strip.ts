import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { mochaGlobalSetup, mochaGlobalTeardown } from '../test/setup.ts';
import { ExtendedBrowser } from '../test/support/extension.ts';
import { ok } from '../test/support/fake-provider.ts';
import { startSystem } from '../test/support/system.ts';
import { openZooPage } from '../test/support/zoo.ts';
import { WORKING } from '../test/support/zoo-pages.ts';
import { SCRATCH } from './child.ts';

/**
 * By hand: pictures of the browser extension's ghost text in editors and other pages, on a desk and on a phone, light
 * and dark, each alone and all on one sheet. EDITORS names the folder with the editors (`.ci/get-tools`).
 */
const FOLDER = join(SCRATCH, 'film-strip');
const SHOWN = [
  'an issue tracker with a comment box',
  'a chat whose composer sticks to the bottom',
  'a mail with a signature below',
  'a web component',
  'a form of React',
  'CodeMirror',
  'ProseMirror',
  'TipTap',
  'Lexical',
  'Quill',
  'Monaco',
];
const DESK = { width: 640, height: 300 };
const PHONE = { width: 390, height: 420 };
const ON_PHONE = ['an issue tracker with a comment box', 'a mail with a signature below', 'Quill'];
const CONTINUATION = ' with care, and tell me when it is done so that I can look at it before the others do.';
const LOOK = `
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif } body { margin: 20px }
  textarea, input[type=text], #root, [contenteditable] { box-sizing: border-box; width: 100%; padding: 8px 10px; font: inherit;
    border: 1px solid GrayText; border-radius: 6px; min-height: 40px } #root:has(.monaco-editor) { padding: 0 }
  #root [contenteditable], #root textarea { border: 0; outline: 0 }`;

interface Scene {
  name: string;
  viewport: { width: number; height: number };
  isTouch: boolean;
  scheme: 'light' | 'dark';
}

const scenes: Scene[] = [
  ...SHOWN.map((name): Scene => ({ name, viewport: DESK, isTouch: false, scheme: 'light' })),
  { name: 'Quill', viewport: DESK, isTouch: false, scheme: 'dark' },
  { name: 'an issue tracker with a comment box', viewport: DESK, isTouch: false, scheme: 'dark' },
  ...ON_PHONE.map((name): Scene => ({ name, viewport: PHONE, isTouch: true, scheme: 'light' })),
];

async function picture(browser: ExtendedBrowser, scene: Scene): Promise<Buffer> {
  const { context } = browser;
  const zooPage = WORKING[scene.name];
  if (zooPage === undefined) throw new Error(`there is no page ${scene.name}`);
  // The page's script looks once whether people touch it.
  const prepare = async (page: Page) => {
    await page.setViewportSize(scene.viewport);
    await page.emulateMedia({ colorScheme: scene.scheme });
    const devTools = await context.newCDPSession(page);
    await devTools.send('Emulation.setTouchEmulationEnabled', { enabled: scene.isTouch, maxTouchPoints: 1 });
    await page.reload();
  };
  const page = await openZooPage(context, zooPage, LOOK);
  await prepare(page);
  await page.waitForFunction('document.readyState === "complete"');
  if (!/focus\(\)/.test(zooPage.script ?? '') && !zooPage.isOfOthers) await page.locator('#field').click();
  await page.waitForFunction('document.activeElement !== document.body');
  await page.keyboard.type('Handle it ');
  await page.locator('[data-forecue=ghost]').filter({ hasText: 'with care' }).waitFor();
  await page.waitForTimeout(300);
  const shot = await page.screenshot({ caret: 'initial' });
  await page.close();
  await context.unrouteAll();
  return shot;
}

await mochaGlobalSetup();
const [system, browser] = await Promise.all([startSystem(), ExtendedBrowser.open()]);
try {
  await mkdir(FOLDER, { recursive: true });
  await browser.signIn(system);
  system.provider.respond(ok({ continuation: CONTINUATION }));
  const figures: string[] = [];
  for (const [at, scene] of scenes.entries()) {
    const shot = await picture(browser, scene);
    await writeFile(join(FOLDER, `${String(at + 1).padStart(2, '0')}.png`), shot);
    const title = `${at + 1}. ${scene.name}${scene.isTouch ? ', phone' : ''}, ${scene.scheme}`;
    figures.push(
      `<figure><figcaption>${title}</figcaption><img src="data:image/png;base64,${shot.toString('base64')}"></figure>`,
    );
  }
  const sheet = await browser.context.newPage();
  await sheet.setViewportSize({ width: 2000, height: 800 });
  await sheet.setContent(`<style>body { display: flex; flex-wrap: wrap; gap: 12px; font: 14px system-ui }
    figure { margin: 0 } img { border: 1px solid silver }</style>${figures.join('')}`);
  await sheet.screenshot({ path: join(FOLDER, 'sheet.png'), fullPage: true });
  console.log(join(FOLDER, 'sheet.png'));
} finally {
  await browser[Symbol.asyncDispose]();
  await system.stop();
  await mochaGlobalTeardown();
}
process.exit();
