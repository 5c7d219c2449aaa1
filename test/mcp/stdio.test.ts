import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { issueKey, signUp, type UserClient } from '../support/account.ts';
import { bareEnvironment } from '../support/environment.ts';
import * as fake from '../support/fake-provider.ts';
import { freePort } from '../support/free-port.ts';
import { installClient, type PackedClient } from '../support/packed-client.ts';
import { proposeReplies } from '../support/replies.ts';
import { type System, startSystem, type TestProcess } from '../support/system.ts';
import { callTool, startToolServer } from '../support/tool-server.ts';
import { until } from '../support/until.ts';

const BIN = join(import.meta.dirname, '../../bin/mcp');

describe('the tools over standard input and output', () => {
  let system: System;
  let server: TestProcess;
  let installed: PackedClient;
  let person: UserClient;
  let key: string;
  const port = freePort();
  before(async () => {
    [system, installed] = await Promise.all([
      startSystem({ workerEntry: ['workers/main.ts', 'all'] }),
      installClient(),
    ]);
    person = await signUp(system);
    [server, key] = await Promise.all([startServer(), issueKey(person)]);
  });
  after(async () => {
    await server?.stop('SIGTERM');
    await Promise.all([system?.stop(), installed?.remove()]);
  });

  const startServer = async () =>
    startToolServer(system.webs[0]?.url ?? '', { MCP_PORT: String(await port) });
  /** Path of the `forecue` program, installed as by a person who has only the package. */
  const program = () => join(installed.folder, 'node_modules/.bin/forecue');
  const connectClient = async (
    { command, args = [] }: { command: string; args?: string[] },
    mode: 'legacy' | 'auto',
  ) => {
    const env = { ...bareEnvironment(), FORECUE_URL: person.url, FORECUE_KEY: key };
    const client = new Client({ name: 'desktop', version: '1' }, { versionNegotiation: { mode } });
    await client.connect(new StdioClientTransport({ command, args, env }));
    return client;
  };
  const connectPiped = (mode: 'legacy' | 'auto') =>
    connectClient({ command: program(), args: ['mcp', server.url] }, mode);

  for (const mode of ['legacy', 'auto'] as const)
    for (const [name, open] of [
      ['bin/mcp', () => connectClient({ command: BIN }, mode)],
      ['forecue mcp', () => connectPiped(mode)],
    ] as const)
      it(`the tools are served by ${name} to a client of ${mode === 'legacy' ? 'an MCP revision with sessions' : 'the newest MCP revision'}`, async () => {
        const client = await open();
        assert.equal((await client.listTools()).tools.length, 10);
        const { id } = await callTool(client, 'remember', { text: 'Likes pipes' });
        assert.equal((await callTool(client, 'fetch', { id }))['text'], 'Likes pipes');
        await callTool(client, 'forget', { id });
        await assert.rejects(client.callTool({ name: 'nïchts' }), { code: -32602 });
        await client.close();
      });

  for (const mode of ['legacy', 'auto'] as const)
    it(`the stdio tools pass on the progress and the cancellation of a call for a client of ${mode === 'legacy' ? 'an MCP revision with sessions' : 'the newest MCP revision'}`, async () => {
      const client = await connectPiped(mode);
      system.provider.reset();
      system.provider.respond(fake.hang());
      const cancelled = new AbortController();
      const calling = client.callTool(
        { name: 'predict_reply', arguments: { agent_input: 'Shall I wait?' } },
        { signal: cancelled.signal, onprogress: () => cancelled.abort() },
      );
      await assert.rejects(calling);
      await system.provider.calls[0]?.aborted;
      await until(async () => {
        const { body } = await person.get<{ results: { error: string | null }[] }>(
          '/api/predictions/?limit=1',
        );
        return body.results[0]?.error === 'prediction_cancelled';
      });
      system.provider.reset();
      system.provider.respond(proposeReplies([{ response: 'Blue' }]));
      assert.equal(
        (await callTool(client, 'predict_reply', { agent_input: 'Now?' }))['predicted_response'],
        'Blue',
      );
      await client.close();
    });

  it('the stdio tools go on after a restart of the tool server', async () => {
    const client = await connectPiped('legacy');
    await callTool(client, 'stats');
    await server.stop('SIGTERM');
    await assert.rejects(callTool(client, 'stats'), /cannot be reached/);
    server = await startServer();
    const answers = await Promise.all([callTool(client, 'stats'), callTool(client, 'stats')]);
    assert.equal(answers.length, 2);
    await client.close();
  });

  it('the stdio tools answer invalid lines with JSON-RPC errors', async () => {
    const child = spawn(program(), ['mcp', server.url], {
      env: { ...bareEnvironment(), FORECUE_KEY: `service_${'x'.repeat(49)}` },
    });
    const lines = createInterface({ input: child.stdout });
    const answer = async (line: string) => {
      child.stdin.write(`${line}\n`);
      const [said] = await once(lines, 'line');
      return JSON.parse(said);
    };
    assert.equal((await answer('{')).error.code, -32700);
    for (const line of ['null', '3', '"text"']) assert.equal((await answer(line)).error.code, -32600);
    const toServer = await answer(JSON.stringify({ jsonrpc: '2.0', id: 'of the server', result: {} }));
    assert.equal(toServer.id, null, 'an answer to a request of the server is not answered');
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    };
    const refused = await answer(JSON.stringify({ jsonrpc: '2.0', id: 'a', method: 'initialize', params }));
    assert.deepEqual([refused.id, refused.error.data], ['a', { code: 'not_authenticated' }]);
    child.stdin.end();
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });

  it('bin/mcp and forecue mcp report missing and invalid settings on standard error', async () => {
    const errorOutputOf = async (command: string, args: string[], env: Record<string, string> = {}) => {
      const child = spawn(command, args, { env: { ...bareEnvironment(), ...env } });
      const [words, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
      assert.equal(code, 1);
      return words;
    };
    assert.match(await errorOutputOf(BIN, []), /FORECUE_KEY is required/);
    assert.match(await errorOutputOf(program(), ['mcp']), /name the address/);
    assert.match(await errorOutputOf(program(), ['mcp', server.url]), /FORECUE_KEY: it is empty/);
    assert.match(await errorOutputOf(program(), ['mcp', 'localhost'], { FORECUE_KEY: key }), /not an http/);
  });
});
