import assert from 'node:assert/strict';
import { gunzipSync } from 'node:zlib';
import { useSystem } from '../support/system.ts';

const SCRIPT_MAX_BYTES = 120_000;

describe('console as served', () => {
  const system = useSystem({ workers: 0 });
  let url: string;
  before(async () => {
    url = system.webs[0]?.url ?? '';
  });

  it(`the console's compressed JavaScript is at most ${SCRIPT_MAX_BYTES / 1000} kB`, async () => {
    const { headers } = await fetch(`${url}/console/app.js`);
    assert.equal(headers.get('content-encoding'), 'gzip');
    assert.equal(headers.get('vary'), 'Accept-Encoding');
    const length = Number(headers.get('content-length'));
    assert.ok(length > 10_000 && length <= SCRIPT_MAX_BYTES, `${length} bytes`);
  });

  it('the console serves its stylesheet uncompressed on request, and answers 304 if the browser has the current version', async () => {
    const plain = await fetch(`${url}/console/app.css`, { headers: { 'accept-encoding': 'identity' } });
    assert.equal(plain.headers.get('content-encoding'), null);
    const text = await plain.text();
    assert.equal(await (await fetch(`${url}/console/app.css`)).text(), text);
    assert.throws(() => gunzipSync(text));
    const etag = plain.headers.get('etag') ?? '';
    const headers = { 'if-none-match': etag, 'cache-control': 'max-age=0' };
    assert.equal((await fetch(`${url}/console/app.css`, { headers })).status, 304);
  });

  it("the console's content security policy allows only its own scripts and styles, and requires trusted types", async () => {
    const { headers } = await fetch(`${url}/console/`);
    const policy = headers.get('content-security-policy') ?? '';
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/);
    assert.match(policy, /; require-trusted-types-for 'script'; trusted-types 'none'$/);
    assert.doesNotMatch(policy, /unsafe|https?:/);
    assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin');
  });

  it('the console redirects from its address without the trailing slash to its page', async () => {
    const { status, headers } = await fetch(`${url}/console`, { redirect: 'manual' });
    assert.deepEqual([status, headers.get('location')], [308, 'console/']);
  });
});
