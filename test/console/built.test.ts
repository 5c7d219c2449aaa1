import assert from 'node:assert/strict';
import { gunzipSync } from 'node:zlib';
import { useSystem } from '../support/system.ts';

const FIRST_MAX_BYTES = 60_000;
const ALL_MAX_BYTES = 130_000;

describe('console as served', () => {
  const system = useSystem({ workers: 0 });
  let url: string;
  before(async () => {
    url = system.webs[0]?.url ?? '';
  });

  it(`the console's compressed files are at most ${FIRST_MAX_BYTES / 1000} kB for the first page, and ${ALL_MAX_BYTES / 1000} kB in all`, async () => {
    const lengths = new Map<string, number>();
    const load = async (name: string, isFirst: boolean): Promise<number> => {
      if (lengths.has(name)) return 0;
      const answer = await fetch(`${url}/console/${name}`);
      assert.equal(answer.headers.get('content-encoding'), 'gzip');
      assert.equal(answer.headers.get('vary'), 'Accept-Encoding');
      const length = Number(answer.headers.get('content-length'));
      lengths.set(name, length);
      const text = await answer.text();
      let first = isFirst ? length : 0;
      // Static imports come before dynamic ones, so that each file counts where it is needed first.
      for (const [, part = ''] of text.matchAll(/(?:from|import)"\.\/(part-\w+\.js)"/g))
        first += await load(part, isFirst);
      for (const [, part = ''] of text.matchAll(/import\("\.\/(\S+?\.js)"\)/g)) await load(part, false);
      return first;
    };
    const first = (await load('app.css', true)) + (await load('app.js', true));
    const all = [...lengths.values()].reduce((sum, length) => sum + length, 0);
    assert.ok(lengths.size > 5 && first <= FIRST_MAX_BYTES && all <= ALL_MAX_BYTES, `${first}, ${all} bytes`);
  });

  it("the console's page names each part that its script imports, and a browser may keep a part for a year", async () => {
    const page = await (await fetch(`${url}/console/`)).text();
    const named = [...page.matchAll(/<link rel="modulepreload" href="(part-\w+\.js)">/g)].map(
      ([, part]) => part,
    );
    const script = await (await fetch(`${url}/console/app.js`)).text();
    const imported = [...script.matchAll(/(?:from|import)"\.\/(part-\w+\.js)"/g)].map(([, part]) => part);
    assert.ok(named.length > 0);
    assert.deepEqual(named.toSorted(), imported.toSorted());
    const { headers } = await fetch(`${url}/console/${named[0]}`);
    assert.match(headers.get('cache-control') ?? '', /max-age=31536000, immutable/);
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
