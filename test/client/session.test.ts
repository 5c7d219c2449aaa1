import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { mock } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAccountClient, type Tokens } from '../../client/src/api.ts';
import { listen } from '../support/listening.ts';
import { until } from '../support/until.ts';

/** Starts a server that accepts only its latest access token, and any refresh token. */
async function startTokenServer() {
  const state = { access: 'a0', refreshes: 0, refused: 0, takesRefresh: true };
  const server = createServer(async (request, response) => {
    const answer = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (request.url === '/api/auth/token/refresh/') {
      await sleep(20);
      if (!state.takesRefresh) return answer(401, { detail: { code: 'not_authenticated', message: 'No.' } });
      state.refreshes += 1;
      state.access = `a${state.refreshes}`;
      return answer(200, { access: state.access });
    }
    if (request.headers.authorization === `Bearer ${state.access}`) return answer(200, { results: [] });
    state.refused += 1;
    return answer(401, { detail: { code: 'token_expired', message: 'Expired.' } });
  });
  return Object.assign(state, await listen(server));
}

function sharedStorage(kept?: object) {
  const items = new Map<string, string>(kept && [['forecue.tokens', JSON.stringify(kept)]]);
  return {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => items.set(key, value),
    removeItem: (key: string) => items.delete(key),
  };
}

describe("client's tokens", () => {
  afterEach(() => mock.timers.reset());

  it("the client's tokens are renewed once for 200 concurrent calls whose access token has expired", async () => {
    await using server = await startTokenServer();
    const seen: (Tokens | undefined)[] = [];
    const client = createAccountClient({
      baseUrl: server.url,
      credential: { access: 'old', refresh: 'r' },
      onTokens: (tokens) => seen.push(tokens),
    });
    await Promise.all(Array.from({ length: 200 }, () => client.listSessions()));
    assert.equal(server.refreshes, 1);
    assert.deepEqual(seen.at(-1), { access: 'a1', refresh: 'r' });
    client.close();
  });

  it("the client's tokens are renewed once for two clients that share their storage", async () => {
    await using server = await startTokenServer();
    const storage = sharedStorage({ access: 'old', refresh: 'r', at: Date.now() });
    const clients = [1, 2].map(() => createAccountClient({ baseUrl: server.url, storage }));
    await Promise.all(clients.flatMap((client) => Array.from({ length: 20 }, () => client.listSessions())));
    assert.equal(server.refreshes, 1);
    for (const client of clients) client.close();
  });

  it("the client's tokens are renewed before a call if they are 50 minutes old", async () => {
    await using server = await startTokenServer();
    const at = Date.now() - 50 * 60_000;
    const client = createAccountClient({
      baseUrl: server.url,
      storage: sharedStorage({ access: 'a0', refresh: 'r', at }),
    });
    await client.listSessions();
    assert.deepEqual([server.refreshes, server.refused], [1, 0]);
    client.close();
  });

  it('the client drops tokens that cannot be renewed, and then calls `onTokens` with undefined', async () => {
    await using server = await startTokenServer();
    server.takesRefresh = false;
    const seen: (Tokens | undefined)[] = [];
    const client = createAccountClient({
      baseUrl: server.url,
      storage: sharedStorage({ access: 'old', refresh: 'r', at: Date.now() }),
      onTokens: (tokens) => seen.push(tokens),
    });
    await assert.rejects(client.listSessions(), { code: 'token_expired', remedy: 'authenticate' });
    assert.deepEqual(seen, [undefined]);
    await assert.rejects(client.listSessions(), { status: 401 });
  });

  it("a renewal does not bring back the client's tokens if the person logs out meanwhile", async () => {
    await using server = await startTokenServer();
    const storage = sharedStorage({ access: 'old', refresh: 'r', at: Date.now() });
    const client = createAccountClient({ baseUrl: server.url, storage });
    const calling = client.listSessions();
    await until(() => server.refused > 0);
    storage.removeItem('forecue.tokens');
    await assert.rejects(calling, { code: 'token_expired' });
    assert.equal(storage.getItem('forecue.tokens'), null);
  });

  it("a failed renewal of the client's tokens is repeated after a minute, and not repeated once the client is closed", async () => {
    mock.timers.enable({ apis: ['setTimeout', 'Date'] });
    let renewals = 0;
    const options = {
      baseUrl: 'http://127.0.0.1:1',
      retries: 0,
      storage: sharedStorage({ access: 'old', refresh: 'r', at: Date.now() - 50 * 60_000 }),
      fetch: async () => {
        renewals += 1;
        throw new TypeError('unreachable');
      },
    };
    const pass = async (ms: number) => {
      mock.timers.tick(ms);
      await new Promise((resolve) => setImmediate(resolve));
    };
    const client = createAccountClient(options);
    while (renewals < 1) await pass(1);
    let passedMs = 0;
    for (; renewals < 2; passedMs += 1000) await pass(1000);
    assert.ok(passedMs >= 60_000, `${passedMs} ms`);
    client.close();
    createAccountClient(options).close();
    for (let turn = 0; turn < 100; turn += 1) await pass(60_000);
    assert.equal(renewals, 2);
  });

  it("the client's signal and time limit also end a call that waits for a renewal of its tokens", async () => {
    let renewals = 0;
    const client = createAccountClient({
      baseUrl: 'http://127.0.0.1:1',
      credential: { access: 'old', refresh: 'r' },
      timeoutMs: 600_000,
      async fetch(url, init) {
        if (!String(url).includes('refresh'))
          return Response.json({ detail: { code: 'token_expired', message: 'Expired.' } }, { status: 401 });
        renewals += 1;
        return new Promise<never>((_, reject) => init?.signal?.addEventListener('abort', reject));
      },
    });
    await assert.rejects(client.listSessions({ signal: AbortSignal.timeout(50) }), { name: 'TimeoutError' });
    await assert.rejects(client.listSessions({ timeoutMs: 50 }), { code: 'timeout' });
    assert.equal(renewals, 1);
    client.close();
  });

  it("invalid tokens in the client's storage count as logged out", async () => {
    await using server = await startTokenServer();
    const storage = sharedStorage();
    storage.setItem('forecue.tokens', '{');
    await assert.rejects(createAccountClient({ baseUrl: server.url, storage }).listSessions(), {
      status: 401,
    });
  });
});
