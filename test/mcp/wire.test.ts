import assert from 'node:assert/strict';
import { issueKey, signUp } from '../support/account.ts';
import * as fake from '../support/fake-provider.ts';
import { proposeReplies } from '../support/replies.ts';
import { type TestProcess, useSystem } from '../support/system.ts';
import { startToolServer } from '../support/tool-server.ts';

/** A minimal MCP client that uses only `fetch`. Its requests resolve with their results. */
class PlainClient {
  readonly #url: string;
  readonly #headers: Record<string, string>;
  #lastId = 0;

  constructor(url: string, key: string) {
    this.#url = url;
    this.#headers = {
      'x-service-api-key': key,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
  }

  async initialize(protocolVersion: string) {
    const clientInfo = { name: 'plain', version: '1' };
    const opened = await this.request('initialize', { protocolVersion, capabilities: {}, clientInfo });
    this.#headers['mcp-protocol-version'] = opened['protocolVersion'] ?? '';
    const { status } = await this.#post({ method: 'notifications/initialized' });
    assert.equal(status, 202);
    return opened;
  }

  async request(method: string, params: object = {}): Promise<Record<string, string>> {
    this.#lastId += 1;
    const answer = await this.#post({ id: this.#lastId, method, params });
    const session = answer.headers.get('mcp-session-id');
    if (session !== null) this.#headers['mcp-session-id'] = session;
    const text = await answer.text();
    const [data = text] = text.match(/(?<=^data: ?)\{.*/gm) ?? [];
    const { id, result, error } = JSON.parse(data);
    assert.deepEqual([answer.status, id, error], [200, this.#lastId, undefined]);
    return result;
  }

  async tool(name: string, args: object = {}): Promise<Record<string, string>> {
    const { isError, structuredContent, content } = await this.request('tools/call', {
      name,
      arguments: args,
    });
    assert.equal(isError, undefined, JSON.stringify(content));
    assert.deepEqual(
      JSON.parse((content as unknown as { text: string }[])[0]?.text ?? ''),
      structuredContent,
    );
    return structuredContent as unknown as Record<string, string>;
  }

  async disconnectOnceCalled(name: string, args: object, called: () => Promise<unknown>) {
    const connection = new AbortController();
    const message = { id: 0, method: 'tools/call', params: { name, arguments: args } };
    const answer = this.#post(message, connection.signal).then((response) => response.text());
    await called();
    connection.abort();
    await assert.rejects(answer, { name: 'AbortError' });
  }

  #post(message: object, signal?: AbortSignal): Promise<Response> {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    return fetch(this.#url, { method: 'POST', headers: this.#headers, body, ...(signal && { signal }) });
  }
}

describe('the tools, for a minimal client', () => {
  const system = useSystem({ workerEntry: ['workers/main.ts', 'all'] });
  let server: TestProcess;
  let key: string;
  before(async () => {
    [server, key] = await Promise.all([
      startToolServer(system.webs[0]?.url ?? ''),
      issueKey(await signUp(system)),
    ]);
    system.provider.respond(proposeReplies([{ response: 'Blue' }]));
  });
  after(() => server?.stop('SIGTERM'));

  for (const revision of ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'])
    it(`all tools work for a client built on plain fetch in MCP revision ${revision}`, async () => {
      const client = new PlainClient(server.url, key);
      assert.equal((await client.initialize(revision))['protocolVersion'], revision);
      assert.equal((await client.request('tools/list'))['tools']?.length, 10);
      const { id } = await client.tool('predict_reply', { agent_input: 'Which colour?' });
      assert.equal((await client.tool('send_feedback', { id, status: 'accepted' }))['status'], 'accepted');
      const fact = await client.tool('remember', { text: `Likes blue in ${revision}` });
      const { id: factId } = fact;
      assert.match(JSON.stringify(await client.tool('recall', { query: 'blue' })), /Likes blue/);
      assert.match(JSON.stringify(await client.tool('search', { query: 'blue' })), /Likes blue/);
      assert.match((await client.tool('fetch', { id: factId }))['text'] ?? '', /Likes blue/);
      assert.match(JSON.stringify(await client.tool('get_context')), /Likes blue/);
      const event = { type: 'note', id: revision, session_id: revision, text: 'Blue again' };
      assert.equal(String((await client.tool('record_events', { events: [event] }))['accepted']), '1');
      assert.ok((await client.tool('stats'))['memory']);
      const { isError } = await client.request('tools/call', { name: 'stats', arguments: null });
      assert.equal(isError, undefined);
      assert.equal((await client.tool('forget', { id: factId }))['id'], factId);
      assert.equal((await client.request('resources/list'))['resources']?.length, 2);
      assert.equal((await client.request('prompts/list'))['prompts']?.length, 1);
    });

  it('the tool server cancels the prediction of a client that disconnects, in a revision with sessions too', async () => {
    const client = new PlainClient(server.url, key);
    await client.initialize('2025-11-25');
    system.provider.reset();
    system.provider.respond(fake.hang());
    const args = { agent_input: 'Are you there?' };
    await client.disconnectOnceCalled('predict_reply', args, () => system.provider.called(1));
    const [call] = system.provider.calls;
    const ranMs = ((await call?.aborted) ?? 0) - (call?.startedAt ?? 0);
    assert.ok(ranMs < 7000, `the provider's timeout, not the client, ended the call after ${ranMs} ms`);
  });
});
