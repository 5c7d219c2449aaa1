import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { signUp, type UserClient } from '../support/account.ts';
import * as fake from '../support/fake-provider.ts';
import { freePort } from '../support/free-port.ts';
import { proposeReplies } from '../support/replies.ts';
import { startSilentProxy } from '../support/silent-proxy.ts';
import { type TestProcess, useSystem } from '../support/system.ts';
import {
  callTool,
  issueKey,
  openSession,
  startRecordingProxy,
  startToolServer,
} from '../support/tool-server.ts';
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

describe('tool server sessions', function () {
  this.timeout(120_000);
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
  const list = (session: string, credential: string) =>
    post(LIST, { ...bearer(credential), 'mcp-session-id': session });
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
      (
        await person.request<{ results: { session_id: string }[] }>('GET', '/api/recording/sessions/')
      ).body.results
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

  it('a tool server session cannot be opened without a credential, with a wrong one, or with two', async () => {
    const refused: Record<string, string>[] = [
      {},
      bearer('service_x'),
      bearer('made.up.token'),
      { cookie: 'a=b' },
    ];
    for (const headers of refused) {
      const answer = await post(INITIALIZE, headers);
      assert.deepEqual(codeOf(answer), [401, 'not_authenticated']);
      assert.equal(answer.headers.get('www-authenticate'), 'Bearer');
    }
    const both = { ...bearer(keys.ann), 'x-service-api-key': keys.ann };
    assert.deepEqual(codeOf(await post(INITIALIZE, both)), [400, 'invalid_request']);
  });

  it("a request in a tool server session is 403 with another account's credential, and the session continues", async () => {
    const session = await open(keys.ann);
    assert.deepEqual(codeOf(await list(session, keys.ben)), [403, 'access_denied']);
    assert.equal((await list(session, '')).status, 401);
    const stolen = await post({}, { ...bearer(keys.ben), 'mcp-session-id': session }, { method: 'DELETE' });
    assert.deepEqual(codeOf(stolen), [403, 'access_denied']);
    assert.equal((await list(session, keys.ann)).status, 200);
  });

  it("a request with the id of an unknown, ended or other server's session is 404 at the tool server", async () => {
    const other = await startToolServer(upstream.url);
    const elsewhere = await open(keys.ann, other);
    const ended = await open(keys.ann);
    assert.equal(
      (await post({}, { ...bearer(keys.ann), 'mcp-session-id': ended }, { method: 'DELETE' })).status,
      200,
    );
    for (const session of ['made-up', ended, elsewhere, 'x'.repeat(5000)])
      assert.deepEqual(codeOf(await list(session, keys.ann)), [404, 'not_found']);
    await other.stop('SIGTERM');
  });

  it('a tool server session ends when /api no longer accepts its credential', async () => {
    const { status, body } = await ann.request<{ id: string; key: string }>('POST', '/api/auth/keys/', {
      label: 'x',
    });
    assert.equal(status, 201);
    const { client } = await openSession(server, body.key);
    await ann.request('DELETE', `/api/auth/keys/${body.id}/`);
    // Waits until the cached credential has expired.
    const refused = await until(async () => {
      const answer = await client.callTool({ name: 'stats', arguments: {} });
      return answer.isError && JSON.stringify(answer.structuredContent);
    });
    assert.match(refused, /not_authenticated.*Start a new session/);
    await assert.rejects(client.callTool({ name: 'stats', arguments: {} }), /404|no such session/i);
  });

  it('a tool server session ends when idle, but not while a call is running', async () => {
    const hasty = await startToolServer(upstream.url, { MCP_SESSION_IDLE_S: '1' });
    const slow = await openSession(hasty, keys.ann);
    const answered = Promise.withResolvers<void>();
    system.provider.reset();
    system.provider.respond(fake.when(answered.promise, proposeReplies([{ response: 'Blue' }])));
    const calling = callTool(slow.client, 'predict_reply', { agent_input: 'Now?' });
    await system.provider.called(1);
    const later = await open(keys.ann, hasty);
    // Another account's credential gets 403 as long as the session exists, and does not keep it open.
    await until(async () => {
      const headers = { ...bearer(keys.ben), 'mcp-session-id': later };
      return (await post(LIST, headers, { url: hasty.url })).status === 404;
    });
    answered.resolve();
    assert.equal((await calling)['predicted_response'], 'Blue');
    await hasty.stop('SIGTERM');
  });

  it('a tool server session ends when idle even if its client disconnected while sending messages', async () => {
    const hasty = await startToolServer(upstream.url, { MCP_SESSION_IDLE_S: '1' });
    const session = await open(keys.ann, hasty);
    const { host, port, pathname } = new URL(hasty.url);
    const body = JSON.stringify({ ...LIST, params: { filler: 'x'.repeat(64 * 1024) } });
    const lines = [
      `POST ${pathname} HTTP/1.1`,
      `Host: ${host}`,
      `Authorization: Bearer ${keys.ann}`,
      'Content-Type: application/json',
      'Accept: application/json, text/event-stream',
      `Mcp-Session-Id: ${session}`,
      `Content-Length: ${body.length}`,
    ];
    const leave = async () => {
      const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
      socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
      await once(socket, 'close');
    };
    await Promise.all(Array.from({ length: 20 }, leave));
    // Another account's credential does not keep the session open.
    await until(async () => {
      const headers = { ...bearer(keys.ben), 'mcp-session-id': session };
      return (await post(LIST, headers, { url: hasty.url })).status === 404;
    });
    await hasty.stop('SIGTERM');
  });

  it('a tool server session ends a call that its client cancels, without an answer, and continues', async () => {
    const session = await open(keys.ann);
    const headers = { ...bearer(keys.ann), 'mcp-session-id': session };
    system.provider.reset();
    system.provider.respond(fake.hang());
    const params = { name: 'predict_reply', arguments: { agent_input: 'Later?' } };
    const calling = post({ jsonrpc: '2.0', id: 7, method: 'tools/call', params }, headers);
    await system.provider.called(1);
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } };
    assert.equal((await post(cancelled, headers)).status, 202);
    assert.equal((await calling).text, '');
    system.provider.reset();
    system.provider.respond(proposeReplies([{ response: 'Blue' }]));
    assert.equal((await list(session, keys.ann)).status, 200);
  });

  it("opening a tool server session is 503 at MCP_MAX_SESSIONS, and ends a credential's oldest session if the credential has 100", async () => {
    const full = await startToolServer(upstream.url, { MCP_MAX_SESSIONS: '1' });
    await open(keys.ann, full);
    const refused = await post(INITIALIZE, bearer(keys.ben), { url: full.url });
    assert.deepEqual(codeOf(refused), [503, 'overloaded']);
    assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/);
    await full.stop('SIGTERM');
    const bounded = await startToolServer(upstream.url);
    const first = await open(keys.ann, bounded);
    const kept = await open(keys.ben, bounded);
    for (let opened = 0; opened < 100; opened += 1) await open(keys.ann, bounded);
    const at = (session: string, key: string) =>
      post(LIST, { ...bearer(key), 'mcp-session-id': session }, { url: bounded.url });
    assert.deepEqual([(await at(first, keys.ann)).status, (await at(kept, keys.ben)).status], [404, 200]);
    await bounded.stop('SIGTERM');
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

    it('a message that opens a tool server session is 413 if longer than 16 KiB, and 400 with an invalid version', async () => {
      const asking = (protocolVersion: unknown) =>
        post({ ...INITIALIZE, params: { ...INITIALIZE.params, protocolVersion } }, bearer(keys.ann));
      assert.deepEqual(codeOf(await asking('x'.repeat(17 * 1024))), [413, 'body_too_large']);
      assert.equal((await asking({ toString: null })).status, 400);
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
    });

    it('cancelling one call of a JSON-RPC batch at the tool server does not affect the other calls', async () => {
      const older = { ...INITIALIZE, params: { ...INITIALIZE.params, protocolVersion: '2025-03-26' } };
      const { session } = await post(older, bearer(keys.ann));
      const headers = { ...bearer(keys.ann), 'mcp-session-id': session };
      const answer = Promise.withResolvers<void>();
      system.provider.reset();
      system.provider.respond(fake.when(answer.promise, proposeReplies([{ response: 'Blue' }])));
      const call = (id: number) => ({
        ...{ jsonrpc: '2.0', id, method: 'tools/call' },
        params: { name: 'predict_reply', arguments: { agent_input: `Which colour, ${id}?` } },
      });
      const calling = post([call(7), call(8)], headers);
      await system.provider.called(1);
      const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } };
      assert.equal((await post(cancelled, headers)).status, 202);
      answer.resolve();
      const { text } = await calling;
      const answers = [...text.matchAll(/^data: (.+)$/gm)].map(([, data = '']) => JSON.parse(data));
      const [first, second] = answers.sort((one, other) => one.id - other.id);
      assert.equal(first.error.message, 'Request cancelled');
      assert.equal(second.result.structuredContent.predicted_response, 'Blue');
    });

    it('a call is cancelled at the tool server by a message in a JSON-RPC batch, too', async () => {
      const older = { ...INITIALIZE, params: { ...INITIALIZE.params, protocolVersion: '2025-03-26' } };
      const { session } = await post(older, bearer(keys.ann));
      const headers = { ...bearer(keys.ann), 'mcp-session-id': session };
      system.provider.reset();
      system.provider.respond(fake.hang());
      const params = { name: 'predict_reply', arguments: { agent_input: 'In a batch?' } };
      const calling = post({ jsonrpc: '2.0', id: 9, method: 'tools/call', params }, headers);
      await system.provider.called(1);
      const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 9 } };
      assert.equal((await post([cancelled], headers)).status, 202);
      assert.equal((await calling).text, '');
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

    it('the tool server answers 405 to methods other than POST and DELETE, and 404 to unknown paths', async () => {
      for (const method of ['GET', 'PUT']) {
        const { status, headers } = await post({}, bearer(keys.ann), { method });
        assert.deepEqual([status, headers.get('allow')], [405, 'DELETE, POST']);
      }
      assert.equal((await post(LIST, bearer(keys.ann), { url: `${server.url}/x` })).status, 404);
    });

    it('the tool server logs neither invalid input nor credentials', () => {
      assert.doesNotMatch(server.log, /service_|tools\/destroy|api_key|evil|"level":50/);
    });
  });
});
