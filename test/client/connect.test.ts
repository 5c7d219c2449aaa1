import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import Koa, { type Middleware } from 'koa';
import {
  type ConnectorOptions,
  createConnector,
  createRelay,
  nodeHandler,
} from '../../client/src/connect.ts';
import { createAppClient } from '../../client/src/v1.ts';
import { Visitor } from '../connect/visitor.ts';
import { someEmail } from '../support/account.ts';
import { predictionBody } from '../support/client.ts';
import { hang } from '../support/fake-provider.ts';
import { listen } from '../support/listening.ts';
import { useSystem } from '../support/system.ts';

const REDIRECT_URI = 'https://app.example/back?tab=1';

const README = join(import.meta.dirname, '../../client/README.md');

const serve = (listener: RequestListener) => listen(createServer(listener));

const system = useSystem();

describe('connector', () => {
  const startConnector = async (options: Partial<ConnectorOptions> = {}) => {
    const app = await system.app({ redirectUris: [REDIRECT_URI] });
    const client = createAppClient({ baseUrl: app.url, appKey: app.key });
    const connections: object[] = [];
    const failures: string[] = [];
    const connector = createConnector(client, {
      redirectUri: REDIRECT_URI,
      userOf: () => 'ada',
      onConnected(connection) {
        connections.push(connection);
        return new Response('Connected.');
      },
      onFailed(failure) {
        failures.push(failure);
        return new Response('', { status: 400 });
      },
      ...options,
    });
    return { connector, client, connections, failures };
  };
  const leave = async (connector: ReturnType<typeof createConnector>) => {
    const answer = await connector.start(new Request('https://app.example/connect'));
    assert.equal(answer.status, 303);
    const [cookie = ''] = answer.headers.getSetCookie();
    assert.match(cookie, /^__Host-forecue=[^;]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/);
    return { url: answer.headers.get('location') ?? '', cookie: cookie.split(';')[0] ?? '' };
  };
  const decide = async (url: string, decision: 'approve' | 'deny') => {
    const visitor = new Visitor();
    await visitor.submit(url, { do: 'sign-up', email: someEmail(), password: 'a horse with 9 staples' });
    return (await visitor.submit(url, { do: decision })).location ?? '';
  };
  const comeBack = (connector: ReturnType<typeof createConnector>, url: string, cookie: string) =>
    connector.callback(new Request(url, { headers: { cookie: `theme=dark; ${cookie}` } }));

  it('the connector connects a person who approves, and can revoke the connection', async () => {
    const { connector, client, connections } = await startConnector();
    const { url, cookie } = await leave(connector);
    const back = await decide(url, 'approve');
    assert.ok(back.startsWith(REDIRECT_URI));
    const answer = await comeBack(connector, back, cookie);
    assert.deepEqual([answer.status, await answer.text()], [200, 'Connected.']);
    assert.match(answer.headers.getSetCookie()[0] ?? '', /^__Host-forecue=; .*Max-Age=0/);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    const [connection] = connections as { connection_id: string; user_id: string }[];
    assert.equal(connection?.user_id, 'ada');
    const connection_id = connection?.connection_id ?? '';
    const prediction = await client.predict({
      ...predictionBody(),
      mode: 'complete_draft',
      user_id: 'ada',
      connection_id,
    });
    assert.ok('connection_id' in prediction && prediction.connection_id === connection_id);
    assert.deepEqual(await connector.revoke(connection_id, 'ada'), { status: 'revoked' });
  });

  it('the connector reports that the person denied the connection', async () => {
    const { connector, failures } = await startConnector();
    const { url, cookie } = await leave(connector);
    await comeBack(connector, await decide(url, 'deny'), cookie);
    assert.deepEqual(failures, ['access_denied']);
  });

  it('the connector refuses a return without log-in, as another user, from another issuer or without the cookie', async () => {
    let user: string | undefined = 'ada';
    const { connector, connections, failures } = await startConnector({ userOf: () => user });
    const { url, cookie } = await leave(connector);
    const other = await leave(connector);
    const back = await decide(url, 'approve');
    await comeBack(connector, back, other.cookie);
    await comeBack(connector, back, 'other=1');
    await comeBack(connector, back, '__Host-forecue=%7B');
    await comeBack(connector, back.replace(/iss=[^&]+/, 'iss=https%3A%2F%2Fevil.example'), cookie);
    user = 'eve';
    await comeBack(connector, back, cookie);
    user = undefined;
    await comeBack(connector, back, cookie);
    await connector.start(new Request('https://app.example/connect'));
    const state = 'invalid_state';
    assert.deepEqual(failures, [
      state,
      state,
      state,
      state,
      'invalid_grant',
      'not_authenticated',
      'not_authenticated',
    ]);
    assert.deepEqual(connections, []);
  });

  /** Evaluates the line for a framework in the client's README. */
  const lineOf = async (
    framework: string,
    connector: ReturnType<typeof createConnector>,
  ): Promise<unknown> => {
    const [, line] =
      new RegExp(`for ${framework}\\s+\`(.*?)\``, 's').exec(await readFile(README, 'utf8')) ?? [];
    return new Function('connector', 'nodeHandler', `return ${line}`)(connector, nodeHandler);
  };

  it("the connector redirects to the consent page when used in Koa as the client's README shows", async () => {
    const { connector } = await startConnector();
    const koa = new Koa();
    koa.use((await lineOf('Koa', connector)) as Middleware);
    await using server = await serve(koa.callback());
    const answer = await fetch(`${server.url}/forecue/connect`, { redirect: 'manual' });
    assert.equal(answer.status, 303);
    assert.match(answer.headers.get('location') ?? '', /\/connect\//);
    assert.match(answer.headers.getSetCookie()[0] ?? '', /^__Host-forecue=/);
  });

  it("the connector redirects when used in Express and Hono as the client's README shows", async () => {
    const { connector } = await startConnector();
    const hono = (await lineOf('Hono', connector)) as (c: { req: { raw: Request } }) => Promise<Response>;
    const raw = new Request('https://app.example/forecue/connect');
    assert.equal((await hono({ req: { raw } })).status, 303);
    const express = (await lineOf('Express', connector)) as RequestListener;
    // Express passes Node's own request and response, in which headers are set already.
    await using server = await serve((request, response) => {
      response.setHeader('X-Powered-By', 'Express');
      response.setHeader('Set-Cookie', 'theme=dark');
      express(request, response);
    });
    const { status, headers } = await fetch(server.url, { redirect: 'manual' });
    assert.deepEqual([status, headers.get('x-powered-by')], [303, 'Express']);
    assert.deepEqual(
      headers.getSetCookie().map((cookie) => cookie.split('=')[0]),
      ['theme', '__Host-forecue'],
    );
  });
});

describe('relay', () => {
  const startRelay = async (options: { user?: string; key?: string; url?: string } = {}) => {
    const app = await system.app();
    const handler = createRelay({
      baseUrl: options.url ?? app.url,
      appKey: options.key ?? app.key,
      userOf: (request) => request.headers.get('cookie') ?? undefined,
    });
    const server = await serve(nodeHandler(handler));
    const url = `${server.url}/app/forecue`;
    const client = createAppClient({
      baseUrl: url,
      retries: 0,
      fetch: (input, init) => fetch(input, { ...init, headers: { ...init?.headers, cookie: 'ada' } }),
    });
    return { app, client, url, handler, [Symbol.asyncDispose]: server[Symbol.asyncDispose] };
  };
  const input = () => ({ ...predictionBody(), mode: 'complete_draft' as const, user_id: 'somebody else' });
  beforeEach(() => system.provider.reset());

  it('the relay predicts, cancels and records events for the logged-in user, whatever user the page names', async () => {
    await using relayed = await startRelay();
    const prediction = await relayed.client.predict(input());
    assert.equal(prediction.status, 'suggested');
    const { request_id } = prediction;
    const event = { request_id, user_id: 'x', kind: 'accepted' as const };
    assert.deepEqual(await relayed.client.recordPredictionEvent(event), { status: 'recorded' });
    assert.equal((await relayed.app.cancel(request_id, 'ada')).status, 200);
    assert.equal((await relayed.app.cancel(request_id, 'somebody else')).status, 403);
    system.provider.respond(hang());
    const left = new AbortController();
    const leaving = relayed.client.predict(input(), { signal: left.signal });
    const call = await system.provider.called(2);
    left.abort();
    await assert.rejects(leaving, { name: 'AbortError' });
    await call.aborted;
  });

  it('the relay refuses other endpoints, and predictions that are malformed, too large or without a logged-in user', async () => {
    await using relayed = await startRelay();
    const send = (path: string, init: RequestInit) =>
      fetch(`${relayed.url}${path}`, init).then(({ status }) => status);
    const json = { 'content-type': 'application/json', cookie: 'ada' };
    const post = { method: 'POST', headers: json, body: '{}' };
    assert.equal(await send('/v1/usage', { headers: json }), 404);
    assert.equal(await send('/v1/connections', post), 404);
    assert.equal(await send('/v1/predictions', { headers: json }), 404);
    assert.equal(await send('/v1/predictions', { ...post, headers: { cookie: 'ada' } }), 400);
    assert.equal(await send('/v1/predictions', { ...post, body: '[]' }), 400);
    assert.equal(
      await send('/v1/predictions', { ...post, headers: { 'content-type': 'application/json' } }),
      401,
    );
    assert.equal(await send('/v1/predictions', post), 422);
    assert.equal(await send('/v1/predictions', { ...post, body: `"${'x'.repeat(1024 * 1024)}"` }), 413);
  });

  it('the relay answers 413 to a streamed body of more than 1 MiB, without reading the body to its end', async () => {
    await using relayed = await startRelay();
    let chunks = 0;
    const endless = new ReadableStream({
      pull(controller) {
        chunks += 1;
        assert.ok(chunks < 100, 'the relay reads on');
        controller.enqueue(new Uint8Array(64 * 1024));
      },
    });
    const answer = await relayed.handler(
      new Request('https://app.example/forecue/v1/predictions', {
        method: 'POST',
        headers: { 'content-type': 'application/json', cookie: 'ada' },
        body: endless,
        duplex: 'half',
      }),
    );
    assert.deepEqual([answer.status, await answer.json()], [413, { detail: { code: 'body_too_large' } }]);
  });
});
