import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { get } from 'node:http';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { readDocument } from '../../ingress/openapi/committed.ts';
import { endpoints } from '../../ingress/routes/index.ts';
import { faultsOn } from '../support/axe.ts';
import { describeInBrowser, openBrowser } from '../support/browser.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

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

  it('answers are for no other origin, pages use no device, and every answer asks for https if PUBLIC_URL has it', async () => {
    const asBrowser = (path: string, at = url) => fetch(at + path, { headers: BROWSER });
    const [, script = ''] = /src="([^"]+)"/.exec(await (await asBrowser('/console/')).text()) ?? [];
    const isForItself = async (path: string) =>
      assert.equal((await asBrowser(path)).headers.get('cross-origin-resource-policy'), 'same-origin', path);
    assert.equal((await asBrowser(`/console/${script}`)).status, 200);
    for (const path of [`/console/${script}`, '/openapi.json', '/api/auth/me/', '/healthz'])
      await isForItself(path);
    for (const path of ['/', '/console/', '/docs', '/connect/forgotten-password', '/connect/nothing']) {
      await isForItself(path);
      const { headers } = await asBrowser(path);
      assert.match(headers.get('permissions-policy') ?? '', /camera=\(\).*microphone=\(\)/, path);
    }
    const { url: plain } = await system.startWeb({ PUBLIC_URL: 'http://localhost:8080' });
    for (const path of ['/', '/api/auth/me/', '/healthz']) {
      const { headers } = await asBrowser(path);
      assert.equal(headers.get('strict-transport-security'), 'max-age=31536000', path);
      assert.equal((await asBrowser(path, plain)).headers.get('strict-transport-security'), null);
    }
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

describe('GET /openapi.json', () => {
  it('GET /openapi.json describes the endpoints, with PUBLIC_URL as the server', async () => {
    const response = await fetch(`${url}/openapi.json`);
    assert.equal(response.status, 200);
    assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
    assert.equal(response.headers.get('cache-control'), 'no-store');
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
    const expected = { ...readDocument(), servers: [{ url: 'https://forecue.example/here' }] };
    assert.deepEqual(await response.json(), expected);
  });

  it('GET /openapi.json has its own origin as the server if PUBLIC_URL is not set', async () => {
    const { url: own } = await system.startWeb({ PUBLIC_URL: '' });
    const document = await (await fetch(`${own}/openapi.json`)).json();
    assert.deepEqual(document, { ...readDocument(), servers: [{ url: '/' }] });
  });
});

describe('GET /docs', () => {
  const FILES = [
    '/docs',
    '/docs/',
    '/docs/init.js',
    '/docs/swagger-ui-bundle.js',
    '/docs/swagger-ui.css',
    '/docs/docs.css',
  ];

  it('browsers may cache the page at /docs and its files, but must revalidate them (ETag, 304)', async () => {
    for (const path of FILES) {
      const first = await fetch(url + path);
      assert.equal(first.status, 200, path);
      assert.equal(first.headers.get('cache-control'), 'no-cache', path);
      assert.ok((await first.arrayBuffer()).byteLength > 0);
      const headers = { 'if-none-match': first.headers.get('etag') ?? '', 'cache-control': 'max-age=0' };
      const again = await fetch(url + path, { headers });
      assert.deepEqual([again.status, await again.text()], [304, ''], path);
    }
  });

  it('paths below /docs are 404, except for the files that the documentation page loads', async () => {
    for (const path of [
      '/docs/index.html',
      '/docs/package.json',
      '/docs/%2e%2e/package.json',
      '/docs/init.js/',
    ])
      assert.equal((await fetch(url + path)).status, 404, path);
  });

  it('the page at /docs gets the key of the sandbox app on the developer’s machine, and under no other name', async () => {
    const file = fileURLToPath(new URL('../../.data/app-key', import.meta.url));
    const key = (await readFile(file, 'utf8').catch(() => '')).trim() || null;
    const ask = async (host: string) => {
      const [response] = await once(get(`${url}/docs/sandbox-key`, { headers: { host } }), 'response');
      return JSON.parse(await text(response));
    };
    assert.deepEqual(await ask('localhost:8080'), { app_key: key });
    for (const host of ['evil.example', 'localhost.evil.example', '10.0.0.1'])
      assert.deepEqual(await ask(host), { app_key: null }, host);
  });

  it("the content security policy of GET /docs allows only the page's own files, and no inline code", async () => {
    const policy = (await fetch(`${url}/docs`)).headers.get('content-security-policy') ?? '';
    assert.match(policy, /^default-src 'none'; script-src 'self';/);
    assert.doesNotMatch(policy, /https?:|unsafe/);
  });
});

describeInBrowser('pages of the ingress in Chromium', () => {
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

  it("the page at /docs renders every operation, passes axe's accessibility checks in both themes, and requests nothing from other servers", async () => {
    const { url } = await system.startWeb({ PUBLIC_URL: '' });
    const page = await browser.newPage({ colorScheme: 'light' });
    // Rendering all operations takes long on a busy machine.
    page.setDefaultTimeout(100_000);
    const requested: string[] = [];
    const complaints: string[] = [];
    page.on('request', (request) => requested.push(request.url()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    // With and without a slash at the end, the page finds its files.
    for (const path of ['/docs', '/docs/']) {
      requested.length = 0;
      await page.goto(url + path, { waitUntil: 'commit' });
      await until(() => requested.includes(`${url}/openapi.json`));
    }
    await page.locator('.opblock').first().waitFor();
    assert.equal(await page.locator('.opblock').count(), endpoints.length);
    await page.locator('#operations-Predictions-predict button').first().click();
    await page.getByText('Idempotency-Replayed').first().waitFor();
    // Checks one operation of each method, and the open one: all look the same, and take ten times as long.
    await page.evaluate(`
      const seen = new Set();
      for (const block of document.querySelectorAll('.opblock:not(.is-open)')) {
        block.hidden = seen.has(block.className);
        seen.add(block.className);
      }`);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const isDark = colorScheme === 'dark';
      await until(
        async () =>
          isDark === (await page.evaluate("document.documentElement.classList.contains('dark-mode')")),
      );
      assert.deepEqual(await faultsOn(page), [], colorScheme);
    }
    await page.evaluate(`for (const block of document.querySelectorAll('.opblock')) block.hidden = false`);
    await page.locator('#operations-Health-checkHealth button').first().click();
    await page.getByRole('button', { name: 'Try it out' }).last().click();
    await page.getByRole('button', { name: 'Execute' }).click();
    await until(() => requested.includes(`${url}/healthz`));
    await page.getByText('"status": "ok"').last().waitFor();
    const elsewhere = requested.filter((one) => !one.startsWith(`${url}/`) && !one.startsWith('data:'));
    assert.deepEqual([elsewhere, complaints], [[], []]);
  }).timeout(240_000);
});
