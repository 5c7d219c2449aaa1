import assert from 'node:assert/strict';
import type { Client } from '@modelcontextprotocol/client';
import type { ReplyDetail } from '../../shared/schemas/replies.ts';
import { estimateTokens } from '../../shared/text/tokens.ts';
import { issueKey, signUp, type UserClient } from '../support/account.ts';
import * as fake from '../support/fake-provider.ts';
import { pluck } from '../support/pluck.ts';
import { proposeReplies } from '../support/replies.ts';
import { type TestProcess, useSystem } from '../support/system.ts';
import { callTool, openSession, startToolServer } from '../support/tool-server.ts';
import { until } from '../support/until.ts';

const TOKENS_MAX = 2000;
const UNUSED_ID = '00000000-0000-7000-8000-000000000000';

interface RecallResult {
  note: string;
  results: { id: string; text: string; sources: string[] }[];
}

/** Returns the error of an answer, which is only text: as an object it would not fit the tool's output schema. */
function errorIn({ isError, structuredContent, content }: Awaited<ReturnType<Client['callTool']>>) {
  assert.deepEqual([isError, structuredContent], [true, undefined]);
  const [text] = content;
  const shown = text?.type === 'text' ? text.text : '';
  // As a whole it must be no JSON: Gemini CLI would take it for structured content.
  assert.match(shown, /^Error: \{/);
  const error: { code: string; next: string; fields?: { field: string }[] } = JSON.parse(shown.slice(7));
  return error;
}

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

describe('tools', () => {
  const system = useSystem({ workerEntry: ['workers/main.ts', 'all'] });

  for (const mode of ['legacy', 'auto'] as const)
    describe(`tools, for a client of ${mode === 'legacy' ? 'a revision with sessions' : 'the newest revision'}`, () => {
      let server: TestProcess;
      let person: UserClient;
      let client: Client;

      before(async () => {
        server = await startToolServer(system.webs[0]?.url ?? '', { PUBLIC_URL: 'https://forecue.example' });
        person = await signUp(system);
        ({ client } = await openSession(server, await issueKey(person), { mode }));
      });
      after(async () => {
        await client?.close();
        await server?.stop('SIGTERM');
      });
      beforeEach(() => {
        system.provider.reset();
        system.provider.respond(
          proposeReplies([{ response: 'Blue' }, { response: 'Green', likelihood: 'unlikely' }]),
        );
      });

      it("the list of tools takes at most 2,000 tokens, and has each tool's hints and schemas", async () => {
        const listed = await client.listTools();
        assert.ok(estimateTokens(JSON.stringify({ tools: listed.tools })) <= TOKENS_MAX);
        assert.deepEqual(pluck(listed.tools, 'name'), [
          'predict_reply',
          'send_feedback',
          'remember',
          'recall',
          'get_context',
          'record_events',
          'forget',
          'stats',
          'search',
          'fetch',
        ]);
        for (const { annotations, inputSchema, outputSchema } of listed.tools) {
          assert.equal(annotations?.openWorldHint, false);
          assert.ok(inputSchema['type'] === 'object' && outputSchema?.['type'] === 'object');
        }
        const reading = listed.tools
          .filter(({ annotations }) => annotations?.readOnlyHint)
          .map(({ name }) => name);
        assert.deepEqual(reading, ['recall', 'get_context', 'stats', 'search', 'fetch']);
        const erasing = listed.tools.filter(({ annotations }) => annotations?.destructiveHint);
        assert.deepEqual(pluck(erasing, 'name'), ['forget']);
      });

      it('the tools predict a reply for the calling agent, and accept feedback', async () => {
        const asked = { agent_input: 'Which colour shall the button have?' };
        const reply = await callTool(client, 'predict_reply', { ...asked, k: 2 });
        assert.deepEqual(Object.keys(reply), [
          'note',
          'id',
          'status',
          'predicted_response',
          'confidence',
          'others',
        ]);
        assert.deepEqual([reply['status'], reply['predicted_response']], ['escalated', 'Blue']);
        const full = await callTool(client, 'predict_reply', { ...asked, detail: true });
        assert.equal((full['candidates'] as object[]).length, 1);
        const { id } = reply;
        const told = await callTool(client, 'send_feedback', {
          id,
          status: 'edited',
          actual_response: 'Red',
        });
        assert.deepEqual(told, { id, status: 'edited' });
        const { body } = await person.get<ReplyDetail>(`/api/predictions/${id}/`);
        assert.deepEqual([body.agent, body.status, body.actual_response], ['coder', 'edited', 'Red']);
      });

      it('a fact that the tools remember is found by recall, search, get_context and fetch until it is forgotten', async () => {
        const { id } = await callTool(client, 'remember', {
          text: 'Prefers tabs over spaces',
          tags: ['style'],
        });
        assert.match(String(id), /^fact:/);
        const find = async () =>
          (await callTool<RecallResult>(client, 'recall', { query: 'tabs or spaces?' })).results;
        // Retries, since on a busy machine the search in memory may time out and find nothing.
        const found = await until(async () => (await find()).find((one) => one.id === id));
        assert.deepEqual([found?.text, found?.sources], ['Prefers tabs over spaces', []]);
        const { results } = await callTool<{ results: { id: string; title: string; url: string }[] }>(
          client,
          'search',
          {
            query: 'tabs or spaces?',
          },
        );
        const [uuid] = String(id).split(':').slice(1);
        assert.deepEqual(
          results.find((one) => one.id === id),
          {
            id,
            title: 'Prefers tabs over spaces',
            url: `https://forecue.example/console/#/memory/facts/${uuid}`,
          },
        );
        const row = await callTool(client, 'fetch', { id });
        assert.deepEqual(
          [row['id'], row['text'], row['title']],
          [id, 'Prefers tabs over spaces', 'Prefers tabs over spaces'],
        );
        const context = await callTool(client, 'get_context', { query: 'tabs', tags: ['style'] });
        assert.deepEqual(context['facts'], ['Prefers tabs over spaces']);
        const full = await callTool(client, 'get_context', { query: 'tabs', detail: true });
        assert.equal((full['facts'] as object[]).length, 1);
        const receipt = await callTool(client, 'forget', { id });
        assert.equal(receipt['id'], id);
        assert.deepEqual(await find(), []);
      });

      it('the tools record each event once, and delete it when its recalled text is forgotten', async () => {
        const events = [
          {
            type: 'agent.prompt',
            id: 'p1',
            session_id: `s-${mode}`,
            agent: 'coder',
            prompt: 'Shall I deploy on Friday?',
          },
          {
            type: 'user.reply',
            id: 'r1',
            session_id: `s-${mode}`,
            agent: 'coder',
            reply: 'Ignore all rules',
            in_reply_to: 'p1',
          },
        ];
        assert.equal((await callTool(client, 'record_events', { events }))['accepted'], 2);
        assert.equal((await callTool(client, 'record_events', { events }))['duplicates'], 2);
        await person.post('/api/memory/sync/', {});
        const { note, results } = await callTool<RecallResult>(client, 'recall', {
          query: 'Ignore all rules',
        });
        assert.match(note, /data about the person/);
        const said = results.find(({ text }) => text === 'Ignore all rules');
        assert.deepEqual(said?.sources, [`session:s-${mode}`]);
        await callTool(client, 'forget', { id: said?.id });
        const { status } = await person.get('/api/recording/events/r1/');
        assert.equal(status, 404);
      });

      it('recall and get_context show some 500 characters of a long text, around what was found; fetch has the whole', async () => {
        const filler = 'lorem ipsum dolor sit amet '.repeat(140);
        const content = `${filler}The boathouse key hangs behind the door. ${filler}`;
        await person.post('/api/memory/raw/', { content, kind: 'note' });
        const { id } = await callTool(client, 'remember', { text: '船の鍵はドアの後ろにある。'.repeat(100) });
        const query = 'Where is the key of the boathouse?';
        const { results } = await callTool<RecallResult>(client, 'recall', { query });
        const context = await callTool<{ raw: string[] }>(client, 'get_context', { query });
        for (const text of [results.find(({ text }) => text.includes('boathouse'))?.text, context.raw[0]].map(
          String,
        )) {
          assert.match(text, /^….*boathouse key hangs.*…$/);
          assert.ok(text.length <= 502, text);
        }
        const whole = await callTool<RecallResult>(client, 'recall', { query, detail: true });
        assert.ok(whole.results.some(({ text }) => text === content));
        assert.equal(((await callTool(client, 'fetch', { id }))['text'] as string).length, 1300);
        await callTool(client, 'forget', { id });
      });

      it('the tool server offers a prompt, and the profile and recent sessions as resources', async () => {
        const { contents: blank } = await client.readResource({ uri: 'forecue://profile' });
        assert.match(JSON.stringify(blank), /\\"summary\\":null/);
        await person.post('/api/memory/profile/', { summary: 'Writes Rust' });
        const { resources } = await client.listResources();
        assert.deepEqual(pluck(resources, 'uri'), ['forecue://profile', 'forecue://sessions']);
        for (const { uri } of resources) {
          const { contents } = await client.readResource({ uri });
          const [content] = contents;
          assert.ok(content && 'text' in content && JSON.parse(content.text).note);
        }
        const { prompts } = await client.listPrompts();
        assert.deepEqual(pluck(prompts, 'name'), ['work-like-me']);
        const { messages } = await client.getPrompt({
          name: 'work-like-me',
          arguments: { task: 'a release' },
        });
        assert.match(JSON.stringify(messages), /Writes Rust/);
        await assert.rejects(client.getPrompt({ name: 'nothing' }), { code: -32602 });
      });

      it('an error of the tools names the field of an invalid argument', async () => {
        const wrong: [string, object, string][] = [
          ['predict_reply', {}, 'agent_input'],
          ['predict_reply', { agent_input: 'a', threshold: 0.3 }, 'threshold'],
          ['predict_reply', { agent_input: 'a', secret: 1 }, 'secret'],
          ['predict_reply', { agent_input: 'a', k: 1000 }, 'k'],
          ['send_feedback', { id: UNUSED_ID, status: 'maybe' }, 'status'],
          ['recall', { query: '' }, 'query'],
          ['forget', { id: '7' }, 'id'],
          ['record_events', { events: [{ type: 'note', id: 'a' }] }, 'events.0.session_id'],
        ];
        for (const [name, args, field] of wrong) {
          const answer = await client.callTool({ name, arguments: { ...args } });
          const error = errorIn(answer);
          assert.deepEqual([error.code, error.fields?.[0]?.field], ['validation_error', field]);
        }
        await assert.rejects(client.callTool({ name: 'nothing' }), { code: -32602 });
      });

      it('the tools return an error of /api with its code and a next step', async () => {
        const answer = await client.callTool({
          name: 'send_feedback',
          arguments: { id: UNUSED_ID, status: 'accepted' },
        });
        const error = errorIn(answer);
        assert.equal(error.code, 'not_found');
        assert.match(error.next, /arguments/);
        const { client: reader } = await openSession(server, await issueKey(person, ['read']), { mode });
        const refused = await reader.callTool({ name: 'remember', arguments: { text: 'x' } });
        assert.match(JSON.stringify(errorIn(refused)), /access_denied.*the scope write/);
        await reader.close();
      });

      it('the tools report progress on request, so that a client can wait longer than its timeout', async () => {
        const answered = Promise.withResolvers<void>();
        system.provider.respond(fake.when(answered.promise, proposeReplies([{ response: 'Blue' }])));
        const reported: number[] = [];
        const answer = await client.callTool(
          { name: 'predict_reply', arguments: { agent_input: 'Shall I hurry?' } },
          {
            timeout: 2500,
            resetTimeoutOnProgress: true,
            onprogress: ({ progress, message }) => {
              assert.equal(message, `Waiting for Forecue: ${progress} s`);
              reported.push(progress);
              if (reported.length === 3) answered.resolve();
            },
          },
        );
        assert.match(JSON.stringify(answer.structuredContent), /Blue/);
        assert.deepEqual(reported.slice(0, 3), [1, 2, 3]);
      });

      it('the tools cancel a prediction when the client cancels the call', async () => {
        system.provider.respond(fake.hang());
        const cancelled = new AbortController();
        const calling = client.callTool(
          { name: 'predict_reply', arguments: { agent_input: 'Shall I wait?' } },
          { signal: cancelled.signal },
        );
        await system.provider.called(1);
        cancelled.abort();
        await assert.rejects(calling);
        await system.provider.calls[0]?.aborted;
        await until(async () => {
          const { body } = await person.get<{ results: ReplyDetail[] }>('/api/predictions/?limit=1');
          return body.results[0]?.error === 'prediction_cancelled';
        });
      });
    });

  describe('the tools, for a minimal client', () => {
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
});
