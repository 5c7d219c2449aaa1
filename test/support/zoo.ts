import type { BrowserContext, Page } from 'playwright-core';
import { bundleForBrowser } from './bundle.ts';
import { bundleEditor } from './bundle-editor.ts';
import type { ZooPage } from './zoo-pages.ts';

const SITE = 'https://zoo.example/';
const FRAME = '<!doctype html><textarea id="field"></textarea>';
/** The one rule of the editors' own style sheets that typing needs. */
const OWN_STYLE = '.ProseMirror, .ql-editor { white-space: pre-wrap }';

/** Opens a page of the zoo, which no server needs to have. */
export async function openZooPage(context: BrowserContext, zooPage: ZooPage, look = ''): Promise<Page> {
  const { body, script = '', isOfOthers = false, svelte } = zooPage;
  const bundled = isOfOthers
    ? await bundleEditor(script, svelte)
    : { script: await bundleForBrowser(script), style: '' };
  const html = `<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">
    <style>${bundled.style}${OWN_STYLE}${look}</style><body>${body}<script type="module" src="/script.js"></script>`;
  await context.route(/^https:\/\/(zoo|other)\.example\//, (route) => {
    const { pathname } = new URL(route.request().url());
    if (pathname === '/script.js')
      return route.fulfill({ contentType: 'text/javascript; charset=utf-8', body: bundled.script });
    const page = pathname === '/frame' ? FRAME : html;
    return route.fulfill({ contentType: 'text/html; charset=utf-8', body: page });
  });
  const page = await context.newPage();
  await page.goto(SITE);
  return page;
}
