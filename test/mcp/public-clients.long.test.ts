import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { signUp } from '../support/account.ts';
import { describeWhere } from '../support/describe-where.ts';
import { type ListeningServer, listen } from '../support/listening.ts';
import { proposeReplies } from '../support/replies.ts';
import { type TestProcess, useSystem } from '../support/system.ts';
import { issueKey, startToolServer } from '../support/tool-server.ts';

/** Folder where `.ci/get-tools` installs the protocol's conformance suite and inspector. */
const { MCP_TOOLS = '' } = process.env;

/**
 * Scenarios of the conformance suite that apply to any server. The others need a reference server's tools, or
 * features that this server lacks.
 */
const SCENARIOS = {
  '2025-11-25': [
    'server-initialize',
    'server-session-lifecycle',
    'ping',
    'tools-list',
    'server-sse-multiple-streams',
    'resources-list',
    'prompts-list',
    'dns-rebinding-protection',
  ],
  '2026-07-28': [
    'tools-list',
    'server-sse-multiple-streams',
    'resources-list',
    'prompts-list',
    'dns-rebinding-protection',
    'sep-2164-resource-not-found',
    'caching',
    'http-header-validation',
  ],
};

describeWhere(
  MCP_TOOLS !== '',
  'the tool server, for the programs of the protocol',
  'no MCP_TOOLS',
  function () {
    this.timeout(120_000);
    const system = useSystem({ workerEntry: ['workers/main.ts', 'all'] });
    let server: TestProcess;
    let proxy: ListeningServer;
    let key: string;
    before(async () => {
      system.provider.respond(proposeReplies([{ response: 'Blue' }]));
      [server, key] = await Promise.all([
        startToolServer(system.webs[0]?.url ?? ''),
        issueKey(await signUp(system)),
      ]);
      proxy = await withCredential(server.url, key);
    });
    after(async () => {
      proxy?.close();
      await server?.stop('SIGTERM');
    });

    const run = async (program: string, ...args: string[]) => {
      const path = join(MCP_TOOLS, 'node_modules/.bin', program);
      const running = promisify(execFile)(process.execPath, [path, ...args], { maxBuffer: 1e7 });
      return (await running.catch(({ stdout, stderr }) => assert.fail(`${stdout}${stderr}`))).stdout;
    };

    for (const [revision, scenarios] of Object.entries(SCENARIOS))
      for (const scenario of scenarios)
        it(`the tool server passes the conformance scenario ${scenario} of MCP revision ${revision}`, async () => {
          const where = ['--url', `http://localhost:${proxy.port}/mcp`, '--spec-version', revision];
          const shown = await run('conformance', 'server', ...where, '--scenario', scenario);
          assert.match(shown, /Passed: (\d+)\/\1, 0 failed/);
        });

    it('the MCP inspector can call each tool, read the recent sessions, and get the prompt of the tool server', async () => {
      const header = `X-Service-API-Key: ${key}`;
      const inspect = async (method: string, ...args: string[]) => {
        const how = ['--cli', server.url, '--transport', 'http', '--header', header, '--method', method];
        const shown = await run('inspector', ...how, ...args);
        return JSON.parse(shown.slice(shown.indexOf('{'), shown.lastIndexOf('}') + 1));
      };
      const tool = async (name: string, ...args: string[]) => {
        const given = args.flatMap((one) => ['--tool-arg', one]);
        const { isError, structuredContent } = await inspect('tools/call', '--tool-name', name, ...given);
        assert.equal(isError, undefined, JSON.stringify(structuredContent));
        return structuredContent;
      };
      assert.equal((await inspect('tools/list')).tools.length, 10);
      const reply = await tool('predict_reply', 'agent_input=Which colour?');
      assert.equal(reply.predicted_response, 'Blue');
      await tool('send_feedback', `id=${reply.id}`, 'status=accepted');
      const { id } = await tool('remember', 'text=Likes blue');
      for (const name of ['recall', 'search', 'get_context'])
        assert.match(JSON.stringify(await tool(name, 'query=blue')), /Likes blue/);
      assert.equal((await tool('fetch', `id=${id}`)).text, 'Likes blue');
      const event = { type: 'note', id: 'n-1', session_id: 's-1', text: 'Blue again' };
      assert.equal((await tool('record_events', `events=${JSON.stringify([event])}`)).accepted, 1);
      assert.ok((await tool('stats')).memory);
      assert.equal((await tool('forget', `id=${id}`)).id, id);
      const { contents } = await inspect('resources/read', '--uri', 'forecue://sessions');
      assert.match(contents[0].text, /s-1/);
      const { messages } = await inspect('prompts/get', '--prompt-name', 'work-like-me');
      assert.match(messages[0].content.text, /predict_reply/);
    });
  },
);

/** Starts a proxy that adds the credential to each request, since the suite cannot send one. */
async function withCredential(target: string, key: string): Promise<ListeningServer> {
  const { port } = new URL(target);
  const server = createServer((incoming, answer) => {
    const { method, url, headers } = incoming;
    const options = { port, method, path: url, headers: { ...headers, 'x-service-api-key': key } };
    const outgoing = request(options, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    outgoing.on('error', () => answer.destroy());
    answer.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
  return listen(server);
}
