import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { newId } from '../../shared/ids.ts';
import { fetchPublished } from '../support/client.ts';
import { useProcesses } from '../support/system.ts';

const CUT_BYTES = -5;
/**
 * Decompressed bytes over the size limit: so few that the server stops reading just before the end of the compressed
 * data.
 */
const EXCESS_BYTES = [1, 100, 4000, 16_385];

/** Covers a crash: decompressing truncated data raises an error when nobody listens for errors any more. */
describe('truncated compression', () => {
  const system = useProcesses({ workers: 0 });

  const urlOf = (path: string) => `${system.webs[0]?.url}${path}`;

  const assertAlive = async () => {
    // A crash comes after the answer, so this makes one more call.
    await fetchPublished(urlOf('/healthz')).catch(() => {});
    assert.equal(system.webs[0]?.child.exitCode, null);
  };

  const postForm = (body: Buffer, encoding: string) =>
    fetch(urlOf(`/connect/${newId()}`), {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-encoding': encoding },
      body,
    });

  it('a compressed HTML form is 400, and crashes no ingress even if it is too large or truncated', async () => {
    for (const excess of EXCESS_BYTES) {
      const packed = gzipSync(Buffer.alloc(16 * 1024 + excess, 'x'));
      for (const body of [packed.subarray(0, CUT_BYTES), packed]) {
        const { status } = await postForm(body, 'gzip');
        await assertAlive();
        assert.equal(status, 400);
      }
    }
    for (const encoding of ['GZIP', 'deflate', 'br', 'gzip, gzip', 'zstd'])
      assert.equal((await postForm(gzipSync('do=approve'), encoding)).status, 400, encoding);
    // No browser was shown a form of this attempt, hence the 403.
    assert.equal((await postForm(Buffer.from('do=approve'), 'identity')).status, 403);
  });

  it('a truncated gzip body of JSON just over the size limit is refused and crashes no ingress', async () => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    for (const limit of [8 * 1024, 256 * 1024])
      for (const excess of EXCESS_BYTES) {
        const body = gzipSync(Buffer.alloc(limit + excess, 'x')).subarray(0, CUT_BYTES);
        const { status } = await fetchPublished(urlOf('/api/auth/waitlist/'), {
          method: 'POST',
          headers,
          body,
        });
        await assertAlive();
        assert.ok(status === 400 || status === 413, `${status}`);
      }
  });
});
