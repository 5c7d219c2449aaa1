import assert from 'node:assert/strict';
import { issueKey, signUp, type UserClient } from '../support/account.ts';
import * as fake from '../support/fake-provider.ts';
import { freePort } from '../support/free-port.ts';
import { proposeReplies } from '../support/replies.ts';
import { startSilentProxy } from '../support/silent-proxy.ts';
import { type TestProcess, useSystem } from '../support/system.ts';
import { callTool, openSession, startRecordingProxy, startToolServer } from '../support/tool-server.ts';
import { until } from '../support/until.ts';

const REVISION = '2025-11-25';
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: REVISION, capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};
const LIST = { jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} };

interface Answer {
  status: number;
  session: string;
  headers: Headers;
  text: string;
}

describe('tool server sessions', () => {
  const system = useSystem({ workerEntry: ['workers/main.ts', 'all'] });
  let upstream: Awaited<ReturnType<typeof startRecordingProxy>>;
  let server: TestProcess;
  let ann: UserClient;
  let ben: UserClient;
  let keys: Record<'ann' | 'ben', string>;

  before(async () => {
    upstream = await startRecordingProxy(system.webs[0]?.url ?? '');
    server = await startToolServer(upstream.url);
    [ann, ben] = await Promise.all([signUp(system), signUp(system)]);
    keys = { ann: await issueKey(ann), ben: await issueKey(ben) };
    system.provider.respond(proposeReplies([{ response: 'Blue' }]));
  });
  after(async () => {
    await server?.stop('SIGTERM');
    upstream?.close();
  });

  const post = async (
    body: object | string,
    headers: Record<string, string> = {},
    { method = 'POST', url = server.url } = {},
  ): Promise<Answer> => {
    const answer = await fetch(url, {
      method,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      ...(method === 'POST' && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const session = answer.headers.get('mcp-session-id') ?? '';
    return { status: answer.status, session, headers: answer.headers, text: await answer.text() };
  };
  const bearer = (credential: string) => ({ authorization: `Bearer ${credential}` });
  const open = async (credential: string, at = server) => {
    const { status, session, text } = await post(INITIALIZE, bearer(credential), { url: at.url });
    assert.equal(status, 200, text);
    return session;
  };
  const list = (session: string, credential: string, at = server) =>
    post(LIST, { ...bearer(credential), 'mcp-session-id': session }, { url: at.url });
  const codeOf = ({ status, text }: Answer) => [status, JSON.parse(text).error.data?.code];

  it('each of 50 interleaved sessions of two accounts uses its own credential for every call to /api', async () => {
    const people = [keys.ann, keys.ben];
    const sessions = await Promise.all(
      Array.from({ length: 50 }, async (_, at) => {
        const credential = people[at % 2] ?? '';
        return { ...(await openSession(server, credential)), credential, mark: `mark-${at}` };
      }),
    );
    upstream.calls.length = 0;
    await Promise.all(
      sessions.map(async ({ client, mark }) => {
        await callTool(client, 'stats');
        const event = { type: 'note', id: mark, session_id: mark, text: mark };
        assert.equal((await callTool(client, 'record_events', { events: [event] }))['accepted'], 1);
      }),
    );
    assert.equal(upstream.calls.length, 3 * 50);
    const counts = people.map(
      (key) => upstream.calls.filter(({ headers }) => headers['x-service-api-key'] === key).length,
    );
    assert.deepEqual(counts, [75, 75]);
    // The recorded events show which credential each call had.
    const recorded = async (person: UserClient) =>
      (await person.get<{ results: { session_id: string }[] }>('/api/recording/sessions/')).body.results
        .map(({ session_id }) => Number(session_id.slice('mark-'.length)))
        .sort((one, other) => one - other);
    assert.deepEqual(
      await recorded(ann),
      Array.from({ length: 25 }, (_, at) => 2 * at),
    );
    assert.deepEqual(
      await recorded(ben),
      Array.from({ length: 25 }, (_, at) => 2 * at + 1),
    );
    await Promise.all(sessions.map(({ client }) => client.close()));
  });

  it('a tool server session opens with a service key as bearer token or in X-Service-Api-Key, or with an access token', async () => {
    for (const headers of [bearer(keys.ann), { 'x-service-api-key': keys.ann }, bearer(ann.access)])
      assert.equal((await post(INITIALIZE, headers)).status, 200);
  });

  it('the tool server answers 401 in each revision without a credential or with a wrong one, and 400 with two', async () => {
    const refused: [headers: Record<string, string>, challenge: RegExp][] = [
      [{}, /^Bearer resource_metadata=/],
      [{ cookie: 'a=b' }, /^Bearer resource_metadata=/],
      [bearer('service_x'), /^Bearer error="invalid_token", error_description=".*checksum/],
      [bearer('made.up.token'), /^Bearer error="invalid_token", error_description=".*unknown or was revoked/],
      [{ authorization: 'Basic eDp5' }, /^Bearer error="invalid_token", error_description=".*neither a key/],
    ];
    const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
    for (const [headers, challenge] of refused)
      for (const message of [INITIALIZE, { ...LIST, params: { _meta } }]) {
        const answer = await post(message, headers);
        assert.deepEqual(codeOf(answer), [401, 'not_authenticated']);
        assert.match(answer.headers.get('www-authenticate') ?? '', challenge);
      }
    const both = { ...bearer(keys.ann), 'x-service-api-key': keys.ann };
    assert.deepEqual(codeOf(await post(INITIALIZE, both)), [400, 'invalid_request']);
  });

  it("a request in a tool server session is 403 with another account's credential, and the session continues", async () => {
    const session = await open(keys.ann);
    assert.deepEqual(codeOf(await list(session, keys.ben)), [403, 'access_denied']);
    assert.equal((await list(session, '')).status, 401);
    assert.equal((await list(session, keys.ann)).status, 200);
  });

  it('a tool server session outlives its process, with its agent and its credential', async () => {
    const first = await startToolServer(upstream.url);
    const session = await open(keys.ann, first);
    await first.stop('SIGTERM');
    const next = await startToolServer(upstream.url);
    assert.deepEqual(codeOf(await list(session, keys.ben, next)), [403, 'access_denied']);
    assert.deepEqual(codeOf(await list(session, 'made.up.token', next)), [401, 'not_authenticated']);
    assert.equal((await list(session, keys.ann, next)).status, 200);
    const event = { type: 'note', id: 'outlived', session_id: 'outlived', text: 'still here' };
    const params = { name: 'record_events', arguments: { events: [event] } };
    const headers = { ...bearer(keys.ann), 'mcp-session-id': session };
    const { text } = await post({ ...LIST, method: 'tools/call', params }, headers, { url: next.url });
    assert.match(text, /"accepted":1/);
    const { body } = await ann.get('/api/recording/sessions/outlived/events/');
    assert.match(JSON.stringify(body), /"source":"test"/);
    await next.stop('SIGTERM');
  });

  it('the tool server serves a session id that it did not make, if the credential is valid', async () => {
    for (const id of ['made-up', '1'.repeat(8000), `${'a'.repeat(36)}..`]) {
      assert.equal((await list(id, keys.ann)).status, 200);
      assert.deepEqual(codeOf(await list(id, 'made.up.token')), [401, 'not_authenticated']);
    }
    const forged = `${'a'.repeat(36)}.b.YQ.${'a'.repeat(43)}`;
    assert.deepEqual(codeOf(await list(forged, keys.ann)), [403, 'access_denied']);
  });

  it('no number of open sessions of an account keeps another from the tool server', async () => {
    const first = await open(keys.ann);
    for (let opened = 0; opened < 200; opened += 20)
      await Promise.all(Array.from({ length: 20 }, () => open(keys.ann)));
    assert.equal((await list(await open(keys.ben), keys.ben)).status, 200);
    assert.equal((await list(first, keys.ann)).status, 200);
  });

  it('a tool server session is 401 when /api no longer accepts its credential', async () => {
    const { status, body } = await ann.post<{ id: string; key: string }>('/api/auth/keys/', {
      label: 'x',
    });
    assert.equal(status, 201);
    const { client } = await openSession(server, body.key);
    await ann.request('DELETE', `/api/auth/keys/${body.id}/`);
    // Waits until the cached credential has expired.
    const refused = await until(async () => {
      const answer = await client.callTool({ name: 'stats', arguments: {} });
      return answer.isError && JSON.stringify(answer.content);
    });
    assert.match(refused, /not_authenticated.*Start a new session/);
    await assert.rejects(client.listTools(), /401|not_authenticated/i);
  });

  it('a tool server is ready only while the API behind it answers', async () => {
    const port = await freePort();
    await using proxy = await startSilentProxy(upstream.url);
    await using _behind = await startToolServer(proxy.url, { OPERATOR_PORT: String(port) });
    const answers = async (status: number) =>
      (await fetch(`http://127.0.0.1:${port}/readyz`)).status === status;
    await until(() => answers(200));
    proxy.mute();
    await until(() => answers(503));
    proxy.unmute();
    await until(() => answers(200));
  });

  describe('invalid input', () => {
    let session: string;
    before(async () => {
      session = await open(keys.ann);
    });
    const send = (body: object | string) => post(body, { ...bearer(keys.ann), 'mcp-session-id': session });

    it('a message of 5 MB is 413 at the tool server', async () => {
      const answer = await send({ ...LIST, params: { filler: 'x'.repeat(5 * 1024 * 1024) } });
      assert.deepEqual(codeOf(answer), [413, 'body_too_large']);
    });

    it('a message that opens a tool server session is 400 with an invalid version', async () => {
      const params = { ...INITIALIZE.params, protocolVersion: { toString: null } };
      assert.equal((await post({ ...INITIALIZE, params }, bearer(keys.ann))).status, 400);
    });

    it('a message that is not JSON, or has another content type, is 400 at the tool server', async () => {
      assert.deepEqual(codeOf(await send('{')), [400, 'invalid_json']);
      const plain = await post('{}', { ...bearer(keys.ann), 'content-type': 'text/plain' });
      assert.deepEqual(codeOf(plain), [400, 'invalid_content_type']);
    });

    it('an unknown JSON-RPC method is error -32601 at the tool server', async () => {
      const { text } = await send({ ...LIST, method: 'tools/destroy' });
      assert.match(text, /-32601/);
    });

    it('a message that is not valid JSON-RPC 2.0 is 400 at the tool server', async () => {
      for (const body of [{}, [], 7, 'null', { jsonrpc: '1.0' }, { jsonrpc: '2.0', id: {}, method: 1 }])
        assert.equal((await send(typeof body === 'number' ? String(body) : body)).status, 400);
    });

    it('a request before `initialize` is 400 at the tool server', async () => {
      assert.deepEqual(codeOf(await post(LIST, bearer(keys.ann))), [400, 'invalid_request']);
    });

    it('a credential in the query string is 400 at the tool server, even with a valid credential in a header', async () => {
      const answer = await post(INITIALIZE, bearer(keys.ann), { url: `${server.url}?api_key=${keys.ann}` });
      assert.deepEqual(codeOf(answer), [400, 'invalid_request']);
    });

    it('the tool server answers JSON-RPC batches only in the MCP revision that has batches, and refuses one of 21 messages', async () => {
      assert.deepEqual(codeOf(await send([LIST, { ...LIST, id: 3 }])), [400, 'invalid_request']);
      const older = { ...INITIALIZE, params: { ...INITIALIZE.params, protocolVersion: '2025-03-26' } };
      const { session: batching } = await post(older, bearer(keys.ann));
      const batch = (length: number) =>
        post(
          Array.from({ length }, (_, id) => ({ ...LIST, id })),
          { ...bearer(keys.ann), 'mcp-session-id': batching },
        );
      const answered = await batch(2);
      assert.equal(answered.status, 200);
      assert.equal(answered.text.match(/"name":"predict_reply"/g)?.length, 2);
      assert.deepEqual(codeOf(await batch(21)), [400, 'invalid_request']);
      const hollow = await post('[null]', { ...bearer(keys.ann), 'mcp-session-id': batching });
      assert.equal(hollow.status, 400);
    });

    it('the tool server answers 403 to pages of other origins, except those of this machine and of CORS_ORIGINS', async () => {
      const origin = 'https://app.example';
      const strict = await startToolServer(upstream.url, { CORS_ORIGINS: origin });
      const from = (from: string) =>
        post(INITIALIZE, { ...bearer(keys.ann), origin: from }, { url: strict.url });
      for (const foreign of ['https://evil.example', 'null', 'http://localhost.evil.example'])
        assert.deepEqual(codeOf(await from(foreign)), [403, 'access_denied']);
      for (const known of [origin, 'http://localhost:6274']) {
        const { status, headers } = await from(known);
        assert.deepEqual([status, headers.get('access-control-allow-origin')], [200, known]);
      }
      const preflight = await post({}, { origin }, { method: 'OPTIONS', url: strict.url });
      assert.equal(preflight.status, 204);
      await strict.stop('SIGTERM');
    });

    it('the tool server answers 405 to methods other than POST, 404 to unknown paths, and /mcp/ like /mcp', async () => {
      for (const method of ['GET', 'DELETE']) {
        const { status, headers } = await post({}, bearer(keys.ann), { method });
        assert.deepEqual([status, headers.get('allow')], [405, 'POST']);
      }
      assert.equal((await post(LIST, bearer(keys.ann), { url: `${server.url}/x` })).status, 404);
      assert.equal((await post(INITIALIZE, bearer(keys.ann), { url: `${server.url}/` })).status, 200);
    });

    it('the tool server answers a client that accepts no stream with JSON, also when it cancels the call', async () => {
      for (const accept of ['application/json', '*/*', '']) {
        const answer = await post(LIST, { ...bearer(keys.ann), 'mcp-session-id': session, accept });
        assert.equal(answer.headers.get('content-type'), 'application/json');
        assert.equal(JSON.parse(answer.text).result.tools.length, 10);
      }
      system.provider.reset();
      system.provider.respond(fake.hang());
      const headers = { ...bearer(keys.ann), 'mcp-session-id': session, accept: 'application/json' };
      const params = { name: 'predict_reply', arguments: { agent_input: 'Whole?' } };
      const calling = post({ jsonrpc: '2.0', id: 'whole', method: 'tools/call', params }, headers);
      await system.provider.called(1);
      await post(
        { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'whole' } },
        headers,
      );
      assert.equal(JSON.parse((await calling).text).error.message, 'Request cancelled');
    });
  });
});
