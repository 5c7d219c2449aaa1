import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { letIn } from '../connect/logging-in-program.ts';
import { issueKey, signUp } from '../support/account.ts';
import { describeWhere } from '../support/describe-where.ts';
import { type ListeningServer, listen } from '../support/listening.ts';
import { type TestProcess, useSystem } from '../support/system.ts';
import { startToolServer } from '../support/tool-server.ts';

/** Folder where `.ci/get-tools` installs the protocol's conformance suite. */
const { MCP_TOOLS = '' } = process.env;

/** Where the suite waits for the person to come back. */
const CALLBACK_PORT = '3917';

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

describeWhere(MCP_TOOLS !== '', 'the tool server, for the programs of the protocol', 'no MCP_TOOLS', () => {
  const system = useSystem({ workers: 0 });
  let server: TestProcess;
  let proxy: ListeningServer;
  let key: string;
  before(async () => {
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

  it('the ingress passes the conformance scenarios of an authorization server', async () => {
    const issuer = (system.webs[0]?.url ?? '').replace('127.0.0.1', 'localhost');
    const redirect_uris = [`http://127.0.0.1:${CALLBACK_PORT}/callback`];
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ client_name: 'Conformance', redirect_uris });
    const registered = await fetch(`${issuer}/oauth/register`, { method: 'POST', headers, body });
    const { client_id } = (await registered.json()) as { client_id: string };
    const path = join(MCP_TOOLS, 'node_modules/.bin/conformance');
    const where = ['--url', issuer, '--client-id', client_id, '--resource', server.url];
    const args = [path, 'authorization', ...where, '--port', CALLBACK_PORT];
    const program = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let shown = '';
    for await (const chunk of program.stdout) {
      const [url] = /http:\S+\/connect\/authorize\S+/.exec(String(chunk)) ?? [];
      shown += chunk;
      if (url !== undefined) void letIn(url, ['read']).then(({ returned }) => fetch(returned));
    }
    assert.equal(program.exitCode ?? (await once(program, 'exit'))[0], 0, shown);
    assert.match(shown, /authorization-server-metadata-endpoint.*authorization-code-grant/s);
    assert.doesNotMatch(shown, /[1-9]\d* failed/);
  });
});

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
