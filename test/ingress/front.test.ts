import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import { faultsOn } from '../support/axe.ts';
import { describeInBrowser, openBrowser } from '../support/browser.ts';
import { useSystem } from '../support/system.ts';

const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

const system = useSystem({
  workers: 0,
  env: { PUBLIC_URL: 'https://forecue.example/here', CONSOLE: 'on' },
});
let url: string;

before(async () => {
  url = system.webs[0]?.url ?? '';
});

describe('GET /', () => {
  it("GET / answers programs in JSON, with the service's state and the addresses of docs and console", async () => {
    for (const accept of ['*/*', 'application/json', 'text/plain']) {
      const response = await fetch(`${url}/`, { headers: { accept } });
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('vary'), 'Accept');
      assert.deepEqual(await response.json(), {
        name: 'Forecue',
        status: 'ready',
        docs: 'https://forecue.example/here/docs',
        openapi: 'https://forecue.example/here/openapi.json',
        console: 'https://forecue.example/here/console/',
      });
    }
  });

  it('GET / is a page for browsers, with links to the console and the docs', async () => {
    const response = await fetch(`${url}/`, { headers: BROWSER });
    assert.equal(response.headers.get('vary'), 'Accept');
    assert.match(response.headers.get('content-type') ?? '', /^text\/html/);
    const policy = response.headers.get('content-security-policy') ?? '';
    assert.match(policy, /^default-src 'none';/);
    assert.doesNotMatch(policy, /unsafe/);
    const text = await response.text();
    for (const shown of [
      'Healthy.',
      'href="console/"',
      'href="docs"',
      'https://forecue.example/here/v1/predict',
    ])
      assert.ok(text.includes(shown), shown);
  });

  it('GET / names no console if the console is off', async () => {
    const { url: other } = await system.startWeb({ CONSOLE: 'off' });
    const { console } = (await (await fetch(`${other}/`)).json()) as { console: unknown };
    assert.equal(console, null);
    assert.ok(!(await (await fetch(`${other}/`, { headers: BROWSER })).text()).includes('console/'));
  });

  it('the icon is served at /favicon.svg, and at /favicon.ico, which browsers request', async () => {
    for (const path of ['/favicon.svg', '/favicon.ico']) {
      const response = await fetch(url + path);
      assert.equal(response.headers.get('content-type'), 'image/svg+xml');
      assert.match(await response.text(), /^<svg xmlns/);
    }
  });
});

describeInBrowser('page at /', () => {
  let browser: Browser;
  before(async () => {
    browser = await openBrowser();
  });
  after(() => browser?.close());

  for (const colorScheme of ['light', 'dark'] as const)
    it(`the page at / passes axe's accessibility checks and obeys its content security policy, in the ${colorScheme} theme`, async () => {
      const page = await browser.newPage({ colorScheme, viewport: { width: 390, height: 844 } });
      const refused: string[] = [];
      page.on('console', (message) => refused.push(message.text()));
      await page.goto(`${url}/`);
      assert.deepEqual(await faultsOn(page), []);
      assert.deepEqual(refused, []);
    });
});
