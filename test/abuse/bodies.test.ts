import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { signUp, type UserClient } from '../support/account.ts';
import {
  emptyArrays,
  nestedArrays,
  postPacked,
  requestHead,
  sendRaw,
  unfinishedRequest,
} from '../support/hostile-bodies.ts';
import { callUntil } from '../support/paced-until.ts';
import { event, post } from '../support/recording.ts';
import { residentMb } from '../support/resident-memory.ts';
import { type TestProcess, useProcesses } from '../support/system.ts';
import { until } from '../support/until.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const RECORDING = '/api/recording/events/';
/** A stalled body is cut off after 5 s, and a second for every 32 KiB sent; without that rule, after 30 s. */
const CUT_OFF_MS = 15_000;
const GROWTH_MB = 300;

describe('hostile bodies', () => {
  const system = useProcesses({ workers: 0, env: { RATE_LIMIT_RPS: '50', RATE_LIMIT_BURST: '100' } });
  let user: UserClient;
  beforeEach(async () => {
    user = await signUp(system);
  });

  const postCompressed = (body: Buffer, path = RECORDING) =>
    postPacked(user.url, path, body, { access: user.access });

  it('a body of thousands of nested arrays is 413 body_too_large, within the size limit too', async () => {
    const refused = { status: 413, code: 'body_too_large' };
    assert.deepEqual(await postCompressed(nestedArrays(200 * KIB)), refused);
    for (const bytes of [8 * KIB, 256 * KIB])
      assert.deepEqual(await postCompressed(nestedArrays(bytes), '/api/auth/waitlist/'), refused);
  });

  it('a JSON body with more values than its endpoint allows is 413 body_too_large', async () => {
    const { text } = emptyArrays(MIB);
    assert.equal((await post(user, text)).code, 'body_too_large');
    const values = (count: number) => JSON.stringify([event({ more: Array(count).fill(0) })]);
    assert.equal((await post(user, values(99_900))).status, 201);
    assert.equal((await post(user, values(100_000))).code, 'body_too_large');
  });

  it('a JSON body nested more than 64 levels deep is 413 body_too_large; brackets in strings do not count #large-bodies', async () => {
    const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    const text = `\\"${'['.repeat(1000)}\\\\`;
    // The batch and the event are the first two levels.
    const batch = (levels: number) =>
      JSON.stringify([event()]).replace('}]', `,"more":${deep(levels)},"text":"${text}"}]`);
    assert.equal((await post(user, batch(62))).status, 201);
    assert.equal((await post(user, batch(63))).code, 'body_too_large');
  });

  it('a gzip body that decompresses to more than 256 KiB and to more than a hundred times its size is 413 #large-bodies', async () => {
    const bomb = await postCompressed(gzipSync(`${' '.repeat(MIB)}[]`));
    assert.deepEqual(bomb, { status: 413, code: 'body_too_large' });
    const text = JSON.stringify(Array.from({ length: 1000 }, () => event()));
    assert.equal((await postCompressed(gzipSync(text))).status, 201);
  });

  it('a gzip body with too many compressed bytes is 413 body_too_large even if it decompresses to nothing', async () => {
    const head = [
      'POST /api/auth/waitlist/ HTTP/1.1',
      'Host: x',
      'Content-Type: application/json',
      'Content-Encoding: gzip',
      'Transfer-Encoding: chunked',
      '',
      '',
    ].join('\r\n');
    const gzipHeader = gzipSync('').subarray(0, 10);
    const emptyBlock = Buffer.from([0, 0, 0, 0xff, 0xff]);
    const blocks = Buffer.concat([gzipHeader, ...Array(2 * KIB).fill(emptyBlock)]);
    const answer = await sendRaw(user.url, [`${head}${blocks.length.toString(16)}\r\n`, blocks, '\r\n']);
    assert.match(answer, /^HTTP\/1.1 413 [\s\S]*"body_too_large"/);
  });

  it('a hundred bodies that never end are cut off within 15 s, and take less than 300 MB meanwhile #large-bodies', async () => {
    const request = unfinishedRequest(RECORDING, Buffer.alloc(16 * MIB, ' '), user.access);
    const memory = () => residentMb(system.webs[0]?.child.pid);
    const isLinux = process.platform === 'linux';
    const before = isLinux ? await memory() : 0;
    const since = performance.now();
    const ended = Promise.all(Array.from({ length: 100 }, () => sendRaw(user.url, [request])));
    const most = isLinux ? Math.max(...(await callUntil(5, memory, ended))) : 0;
    await ended;
    assert.ok(most - before < GROWTH_MB, `from ${before} to ${most} MB`);
    assert.ok(performance.now() - since < CUT_OFF_MS);
    const large = `${' '.repeat(4 * MIB)}${JSON.stringify([event()])}`;
    // The unfinished bodies have given back their share of the memory budget.
    await until(async () => (await post(user, large)).status === 201);
  });

  it('a body that arrives too slowly is 408 request_timeout, and one that arrives fast enough is read #large-bodies', async () => {
    const stalled = sendRaw(user.url, [requestHead(RECORDING, 16 * MIB, user.access), '[']);
    const trickling = sendRaw(
      user.url,
      [requestHead(RECORDING, 100_000, (await signUp(system)).access), ...Array(200).fill(' ')],
      100,
    );
    const body = JSON.stringify([event()]).padStart(7 * 64 * KIB);
    const parts = Array.from({ length: 7 }, (_, n) => body.slice(n * 64 * KIB, (n + 1) * 64 * KIB));
    const fair = sendRaw(
      user.url,
      [requestHead(RECORDING, body.length, (await signUp(system)).access), ...parts],
      1000,
    );
    const since = performance.now();
    for (const answer of await Promise.all([stalled, trickling])) {
      assert.match(answer, /^HTTP\/1.1 408 [\s\S]*\r\nconnection: close\r\n[\s\S]*"request_timeout"/i);
      assert.ok(performance.now() - since < CUT_OFF_MS);
    }
    assert.match(await fair, /^HTTP\/1.1 201 /);
  });
});

describe('size of a body', () => {
  const POINTS = 20;
  const system = useProcesses({
    webs: 1,
    workers: 0,
    env: { RATE_LIMIT_RPS: '1', RATE_LIMIT_BURST: `${POINTS}` },
  });
  let web: TestProcess;
  before(async () => {
    [web] = system.webs as [TestProcess];
  });

  /** An empty array of this size is refused with 422. */
  const body = (bytes: number) => '[]'.padStart(bytes);

  it('a body costs one rate-limit point per 512 KiB of its uncompressed size, rounded up', async () => {
    const user = await signUp({ webs: [web] });
    const left = async (answer: Promise<{ headers: Headers }>) =>
      Number(/r=(\d+)/.exec((await answer).headers.get('ratelimit') ?? '')?.[1]);
    assert.equal(await left(post(user, body(512 * KIB))), POINTS - 1);
    assert.equal(await left(post(user, body(512 * KIB + 1))), POINTS - 3);
    assert.equal(await left(post(user, body(2 * MIB))), POINTS - 7);
    const hard = Buffer.from(`["${randomBytes(MIB / 2 - 2).toString('hex')}"]`);
    const packed = fetch(user.url + RECORDING, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${user.access}`,
        'content-type': 'application/json',
        'content-encoding': 'gzip',
      },
      body: gzipSync(hard),
    });
    assert.equal(await left(packed), POINTS - 9);
  });

  it('a body that costs more rate-limit points than are left is 429, except in the first request of a window', async () => {
    const user = await signUp({ webs: [web] });
    assert.equal((await post(user, body(16 * MIB))).status, 422);
    const other = await signUp({ webs: [web] });
    await other.request('GET', '/api/auth/me/');
    const refused = await post(other, body(16 * MIB));
    assert.deepEqual([refused.status, refused.code], [429, 'rate_limited']);
    assert.match(refused.headers.get('ratelimit') ?? '', /r=0;/);
    assert.match(refused.headers.get('retry-after') ?? '', /^[1-9]/);
  });
});
