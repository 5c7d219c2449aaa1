import assert from 'node:assert/strict';
import { describeEndpoints } from '../../ingress/openapi/document.ts';
import { endpoints } from '../../ingress/routes/index.ts';
import { describeInBrowser, openBrowser } from '../support/browser.ts';
import { useSystem } from '../support/system.ts';

const system = useSystem({ workers: 0 });
let url: string;

before(async () => {
  url = system.webs[0]?.url ?? '';
});

describe('GET /openapi.json', () => {
  it('GET /openapi.json describes the endpoints, with its own origin as the server if PUBLIC_URL is not set', async () => {
    const response = await fetch(`${url}/openapi.json`);
    assert.equal(response.status, 200);
    assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
    assert.equal(response.headers.get('cache-control'), 'no-store');
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
    const expected = describeEndpoints(endpoints);
    assert.deepEqual(await response.json(), JSON.parse(JSON.stringify(expected)));
  });
});

describe('GET /docs', () => {
  const FILES = ['/docs', '/docs/', '/docs/init.js', '/docs/swagger-ui-bundle.js', '/docs/swagger-ui.css'];

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

  it('the page at /docs, its files and /openapi.json take less than 600 kB compressed', async () => {
    let bytes = 0;
    for (const path of [...FILES, '/openapi.json']) {
      const { headers } = await fetch(url + path, { method: 'HEAD' });
      bytes += Number(headers.get('content-length'));
    }
    assert.ok(bytes > 100_000 && bytes < 600_000, `${bytes} bytes`);
  });

  it('the page at /docs and its files answer HEAD like GET without the body, and POST with 405', async () => {
    for (const path of [...FILES, '/openapi.json']) {
      const [get, head] = [await fetch(url + path), await fetch(url + path, { method: 'HEAD' })];
      assert.deepEqual([head.status, await head.text()], [200, ''], path);
      for (const name of ['content-type', 'content-length', 'etag'])
        assert.equal(head.headers.get(name), get.headers.get(name), `${path} ${name}`);
      const post = await fetch(url + path, { method: 'POST' });
      assert.deepEqual([post.status, post.headers.get('allow')], [405, 'GET, HEAD'], path);
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

  it("the content security policy of GET /docs allows only the page's own files, and no inline code", async () => {
    const policy = (await fetch(`${url}/docs`)).headers.get('content-security-policy') ?? '';
    assert.match(policy, /^default-src 'none'; script-src 'self';/);
    assert.doesNotMatch(policy, /https?:|unsafe/);
  });
});

describeInBrowser('page at /docs', function () {
  this.timeout(120_000);

  it('the page at /docs renders every operation, and requests nothing from other servers', async () => {
    await using browser = await openBrowser();
    const page = await browser.newPage();
    // Rendering all operations takes long on a busy machine.
    page.setDefaultTimeout(100_000);
    const requested: string[] = [];
    const complaints: string[] = [];
    page.on('request', (request) => requested.push(request.url()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    for (const path of ['/docs', '/docs/']) {
      requested.length = 0;
      await page.goto(url + path);
      await page.locator('.opblock').first().waitFor();
      assert.equal(await page.locator('.opblock').count(), endpoints.length, path);
      const elsewhere = requested.filter((one) => !one.startsWith(`${url}/`) && !one.startsWith('data:'));
      assert.deepEqual(elsewhere, [], path);
      assert.ok(requested.includes(`${url}/openapi.json`), path);
    }
    await page.locator('#operations-Predictions-predict button').first().click();
    await page.getByText('Idempotency-Replayed').first().waitFor();
    await page.locator('#operations-Health-checkHealth button').first().click();
    await page.getByRole('button', { name: 'Try it out' }).last().click();
    await page.getByRole('button', { name: 'Execute' }).click();
    await page.getByText('"status": "ok"').last().waitFor();
    assert.ok(requested.includes(`${url}/healthz`));
    assert.deepEqual(complaints, []);
  });
});
