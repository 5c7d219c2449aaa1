import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { Operator, startBoard } from '../support/board.ts';
import { predictionBody } from '../support/client.ts';
import { addFailedSyncs, addIdleWorker } from '../support/failed-syncs.ts';
import { status } from '../support/fake-provider.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const HOSTILE = '<img src=x onerror=alert(1)>‮"evil&';

describe("operators' board", () => {
  const system = useSystem({ webs: 0, env: { MODEL_PRICES: 'fake-model=0.15:0.6' } });
  let operator: Operator;
  let token: string;
  before(async () => {
    token = system.env['ADMIN_TOKEN'] ?? '';
    operator = new Operator(await startBoard(system));
    assert.equal((await operator.signIn(token)).status, 303);
  });
  beforeEach(() => system.provider.reset());

  const stranger = () => new Operator(Number(new URL(operator.origin).port));
  const board = async () => (await operator.get('')).text();
  const waitForTexts = (...texts: string[]) =>
    until(async () => {
      const page = await board();
      return texts.every((text) => page.includes(text));
    }, 30_000);

  it('the board asks for its token, and shows nothing without the token', async () => {
    const page = await stranger().get('');
    assert.equal(page.status, 200);
    assert.match(await page.text(), /type="password"/);
    for (const path of ['events', 'find?id=x']) assert.equal((await stranger().get(path)).status, 401);
    const forged = stranger();
    assert.equal((await forged.post('queue', { do: 'pause', pool: 'predict' })).status, 401);
    const foreign = { cookie: operator.cookie.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')) };
    assert.equal((await stranger().get('events', foreign)).status, 401);
  });

  it('the board is 404 on the public port', async () => {
    for (const path of ['/admin', '/admin/', '/admin/board.js', '/admin/events'])
      assert.equal((await fetch(`${system.webs[0]?.url}${path}`)).status, 404);
  });

  it("the board's session cookie does not contain the token, and cannot be read by scripts", async () => {
    const [cookie = ''] = (await stranger().signIn(token)).headers.getSetCookie();
    assert.match(cookie, /; HttpOnly/);
    assert.match(cookie, /; SameSite=Strict/);
    assert.match(cookie, /; Path=\/admin;/);
    assert.ok(!cookie.includes(token) && !cookie.includes(encodeURIComponent(token)));
    assert.doesNotMatch(cookie, /Secure/);
    const proxied = await stranger().post('sign-in', { token }, { 'x-forwarded-proto': 'https' });
    assert.match(proxied.headers.getSetCookie()[0] ?? '', /; Secure/);
  });

  it('the board allows no inline scripts or styles, no frames and no caching', async () => {
    for (const path of ['', 'find?id=x', 'nowhere']) {
      const { headers } = await operator.get(path);
      const policy = headers.get('content-security-policy') ?? '';
      assert.match(policy, /default-src 'none'/);
      assert.match(policy, /frame-ancestors 'none'/);
      assert.doesNotMatch(policy, /unsafe/);
      assert.equal(headers.get('cache-control'), 'no-store');
    }
  });

  it("the board accepts a form only with the CSRF token of the operator's session, and only from its own site", async () => {
    const other = stranger();
    await other.signIn(token);
    const pause = { do: 'pause', pool: 'batch' };
    const own = await operator.csrf();
    for (const csrf of ['', 'x', await other.csrf()])
      assert.equal((await operator.post('queue', { ...pause, csrf })).status, 403);
    const foreign: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
    ];
    for (const headers of foreign) {
      assert.equal((await operator.post('queue', { ...pause, csrf: own }, headers)).status, 403);
      assert.equal((await stranger().post('sign-in', { token }, headers)).status, 403);
    }
    assert.equal((await operator.post('sign-out', {})).status, 403);
    assert.match(await board(), /<h3>batch <span class="badge bad">no worker/);
  });

  it('the board can pause and resume a pool, drain it after a confirmation, and report that there is no job to retry', async () => {
    const csrf = await operator.csrf();
    const act = (action: string, more = {}) =>
      operator.post('queue', { csrf, do: action, pool: 'predict', ...more });
    assert.equal((await act('pause')).headers.get('location'), './?did=pause');
    await waitForTexts('paused');
    const app = await system.app();
    const call = app.predict(predictionBody());
    await until(async () => /<dt>Waiting<\/dt><dd>1</.test(await board()));
    const question = await act('drain');
    assert.equal(question.status, 200);
    assert.match(await question.text(), /Drain predict\?[\s\S]*1 wait in this pool/);
    assert.equal((await act('drain', { sure: 'yes' })).status, 303);
    assert.equal((await call).status, 503);
    assert.equal((await act('resume')).status, 303);
    assert.equal((await app.predict(predictionBody())).status, 200);
    assert.equal((await act('retry')).headers.get('location'), './?did=retry-none');
    assert.match(await (await operator.get('?did=retry-none')).text(), /No job to retry/);
    assert.equal((await act('explode')).status, 404);
    assert.equal((await operator.post('queue', { csrf, do: 'pause', pool: 'nowhere' })).status, 404);
  });

  it('the board shows running work, the process that holds it, and app names as text, not as markup', async () => {
    system.provider.respond(() => {});
    const gone = new AbortController();
    const app = await system.app({ name: HOSTILE });
    const call = app.predict(predictionBody(), { signal: gone.signal }).catch(() => undefined);
    await waitForTexts('&#60;img src=x onerror=alert(1)&#62;\\u{202e}&#34;evil&#38;');
    const page = await board();
    assert.ok(!page.includes('<img') && !page.includes('‮'));
    assert.match(page, /data-head="Holds">1</);
    assert.match(page, /data-head="Version"><bdi>\d+\.\d+\.\d+/);
    gone.abort();
    await call;
  });

  it("the board shows failures by code with a link to an example's timeline, and models with their cost", async () => {
    const app = await system.app({ name: 'Of the timeline' });
    await app.predict(predictionBody());
    system.provider.next(status(413));
    const failed = await app.predict(predictionBody(), { headers: { 'X-Request-Id': 'seen-by-a-client' } });
    assert.equal(failed.status, 502);
    await waitForTexts('provider_failed', 'fake-model', 'data-head="Cost in 24 h"');
    assert.match(await board(), /data-head="Cost in 24 h">(&#60; )?\$0\.\d{4}/);
    const [, example = ''] = /href="find\?id=([\w-]+)"/.exec(await board()) ?? [];
    const told = [
      'Of the timeline',
      'seen-by-a-client',
      example,
      'failed: provider_failed',
      'claimed by',
      'asked ',
    ];
    // The call to the provider may be recorded after the answer.
    for (const asked of [example, 'seen-by-a-client'])
      await until(async () => {
        const timeline = await (await operator.get(`find?id=${asked}`)).text();
        return told.every((text) => timeline.includes(text));
      });
  });

  it('the board shows the timeline of a piece of work by its id, and says "Nothing found" for an unknown id', async () => {
    const app = await system.app();
    const suggested = await app.predict(predictionBody());
    const timelineOf = async (id: string) => (await operator.get(`find?id=${encodeURIComponent(id)}`)).text();
    const ended = await timelineOf(suggested.body.prediction_id);
    assert.match(ended, /badge good">suggested/);
    assert.match(ended, /<dt>Unit<\/dt><dd>settled/);
    assert.match(ended, /admitted, and its unit reserved/);
    const nothing = await timelineOf('<b>nothing</b>‮');
    assert.match(nothing, /Nothing found/);
    assert.ok(!nothing.includes('<b>nothing'));
    assert.match(await timelineOf('019a9fd0-5a11-7e3c-b0a4-9c2f6d1e8b30'), /Nothing found/);
  });

  it('the event stream of the board sends a section only when the section has changed', async () => {
    const gone = new AbortController();
    const stream = await fetch(`${operator.origin}/admin/events`, {
      headers: { cookie: operator.cookie },
      signal: gone.signal,
    });
    assert.equal(stream.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    const events: Record<string, string>[] = [];
    const reading = (async () => {
      let text = '';
      for await (const chunk of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        text += chunk;
        const parts = text.split('\n\n');
        text = parts.pop() ?? '';
        for (const part of parts) if (part.startsWith('data: ')) events.push(JSON.parse(part.slice(6)));
      }
    })().catch(() => undefined);
    await until(() => events.length >= 2, 30_000);
    assert.ok(events[0]?.['pools']?.includes('<h3>predict'));
    const shown = new Map<string, string>();
    for (const event of events)
      for (const [id, text] of Object.entries(event)) {
        assert.notEqual(shown.get(id), text);
        shown.set(id, text);
      }
    gone.abort();
    await reading;
  });

  it('signing out of the board ends the session and its event streams, at every ingress and for a copy of the cookie', async () => {
    const other = stranger();
    await other.signIn(token);
    const { cookie } = other;
    const elsewhere = new Operator(await startBoard(system));
    assert.equal((await elsewhere.get('find?id=x', { cookie })).status, 200);
    const streams = await Promise.all([other, elsewhere].map((at) => at.get('events', { cookie })));
    const remains = await operator.get('events');
    const over = Promise.allSettled(streams.map((stream) => stream.text()));
    assert.equal((await other.post('sign-out', { csrf: await other.csrf() })).status, 303);
    for (const at of [other, elsewhere]) assert.equal((await at.get('find?id=x', { cookie })).status, 401);
    await over;
    const reader = remains.body?.getReader();
    assert.equal((await reader?.read())?.done, false);
    await reader?.cancel();
    assert.equal((await operator.get('find?id=x')).status, 200);
  });
});

describe('board without a worker', () => {
  const system = useSystem({ webs: 0, workers: 0, env: { RECOVERY_WINDOW_S: '7200' } });
  let port: number;
  before(async () => {
    port = await startBoard(system);
  });
  const signIn = async () => {
    const operator = new Operator(port);
    await operator.signIn(system.env['ADMIN_TOKEN'] ?? '');
    return operator;
  };

  it('a board session is 401 at an ingress with another ADMIN_TOKEN', async () => {
    const other = await startBoard(system, { ADMIN_TOKEN: 'another token of the tests, of 32 bytes' });
    const operator = new Operator(other);
    await operator.signIn('another token of the tests, of 32 bytes');
    assert.equal((await operator.get('find?id=x')).status, 200);
    const elsewhere = new Operator(port);
    assert.equal((await elsewhere.get('find?id=x', { cookie: operator.cookie })).status, 401);
  });

  it('the board says why a retry did not queue all failed jobs again: no worker serves the pool, or the pool is full', async () => {
    const operator = await signIn();
    await addFailedSyncs(system, 25);
    const csrf = await operator.csrf();
    const retry = async () => {
      const { headers } = await operator.post('queue', { csrf, do: 'retry', pool: 'memory' });
      const location = headers.get('location') ?? '';
      return [location, await (await operator.get(location)).text()] as const;
    };
    const [noWorker, whyNone] = await retry();
    assert.deepEqual([noWorker, /no worker serves the pool/.test(whyNone)], ['./?did=retry-no_worker', true]);
    await addIdleWorker(system);
    const [full, whySome] = await retry();
    assert.deepEqual([full, /the pool is full/.test(whySome)], ['./?did=retry-full', true]);
  });

  it('the board answers 401 to ten wrong tokens, and 429 with Retry-After to further guesses', async () => {
    const guesser = new Operator(port);
    const statuses: number[] = [];
    for (let n = 0; n < 12; n += 1) {
      const { status, headers } = await guesser.signIn(`wrong ${n}`);
      statuses.push(status);
      if (status === 429) assert.ok(Number(headers.get('retry-after')) >= 1);
    }
    assert.deepEqual(statuses.slice(0, 10), Array(10).fill(401));
    assert.deepEqual(statuses.slice(10), [429, 429]);
  });
});

describe('headline of the board', () => {
  const system = useSystem({ webs: 0, workerEntry: ['workers/main.ts', 'all'] });
  let operator: Operator;
  before(async () => {
    operator = new Operator(await startBoard(system));
    assert.equal((await operator.signIn(system.env['ADMIN_TOKEN'] ?? '')).status, 303);
  });
  const board = async () => (await operator.get('')).text();
  const waitForTexts = (...texts: string[]) =>
    until(async () => {
      const page = await board();
      return texts.every((text) => page.includes(text));
    }, 30_000);

  it('the board says in a sentence what is wrong now, plots the last hour, and shows where processes run', async () => {
    const app = await system.app();
    assert.equal((await app.predict(predictionBody())).status, 200);
    await waitForTexts(
      'Nothing is wrong now',
      'aria-label="Calls a minute, last hour: at most ',
      '<path class="calls" d="M',
    );
    await waitForTexts(`data-head="Host"><bdi>${hostname()}</bdi>`, 'data-head="Pid"', 'data-head="Port"');

    system.provider.next(status(401));
    assert.equal((await app.predict(predictionBody())).status, 503);
    await waitForTexts('The provider of <bdi>fake-model</bdi> refuses the key', 'badge bad">refuses the key');

    const countAlive = async () => (await board()).split('badge good">alive').length;
    const before = await countAlive();
    const worker = await system.startWorker();
    await until(async () => (await countAlive()) === before + 1);
    await worker.stop();
    await until(async () => (await countAlive()) === before);
    assert.doesNotMatch(await board(), /silent/);

    const csrf = await operator.csrf();
    await operator.post('queue', { csrf, do: 'pause', pool: 'batch' });
    await waitForTexts('headline bad', 'The pool batch is paused.');
    await operator.post('queue', { csrf, do: 'resume', pool: 'batch' });
  });
});
