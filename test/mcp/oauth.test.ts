import assert from 'node:assert/strict';
import {
  auth,
  Client,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { letIn } from '../connect/logging-in-program.ts';
import { type TestProcess, useSystem } from '../support/system.ts';
import { callTool, startToolServer } from '../support/tool-server.ts';

/** Keeps in memory what an agent keeps in a file. */
class Program implements OAuthClientProvider {
  readonly redirectUrl = 'http://127.0.0.1:52001/callback';
  readonly clientMetadata = { client_name: 'An agent', redirect_uris: ['http://127.0.0.1/callback'] };
  authorizationUrl: URL | undefined;
  #client: OAuthClientInformationMixed | undefined;
  #tokens: OAuthTokens | undefined;
  #verifier = '';
  #discovery: OAuthDiscoveryState | undefined;

  state() {
    return 'of the agent';
  }
  clientInformation() {
    return this.#client;
  }
  saveClientInformation(client: OAuthClientInformationMixed): void {
    this.#client = client;
  }
  tokens() {
    return this.#tokens;
  }
  saveTokens(tokens: OAuthTokens): void {
    this.#tokens = tokens;
  }
  redirectToAuthorization(url: URL): void {
    this.authorizationUrl = url;
  }
  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }
  codeVerifier() {
    return this.#verifier;
  }
  discoveryState() {
    return this.#discovery;
  }
  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovery = state;
  }
}

describe('the tool server, for programs that log in', () => {
  const system = useSystem({ workers: 0 });
  let server: TestProcess;
  before(async () => {
    const { port } = new URL(system.webs[0]?.url ?? '');
    server = await startToolServer(system.webs[0]?.url ?? '', { PUBLIC_URL: `http://localhost:${port}` });
  });
  after(() => server?.stop('SIGTERM'));

  it("the protocol's own client gets from the address alone to a call of a tool, and goes on when its token is renewed", async () => {
    const program = new Program();
    const url = new URL(server.url);
    const open = async () => {
      const client = new Client({ name: 'agent', version: '1' });
      await client.connect(new StreamableHTTPClientTransport(url, { authProvider: program }));
      return client;
    };
    await assert.rejects(open(), UnauthorizedError);
    const { authorizationUrl } = program;
    assert.equal(authorizationUrl?.searchParams.get('scope'), 'read predict write');
    assert.equal(authorizationUrl?.searchParams.get('resource'), server.url);
    const { returned } = await letIn(authorizationUrl.href, ['read', 'predict', 'write']);
    const transport = new StreamableHTTPClientTransport(url, { authProvider: program });
    await transport.finishAuth(returned.searchParams);

    const client = await open();
    const { id } = await callTool<{ id: string }>(client, 'remember', { text: 'Likes kelp' });
    assert.match(id, /^fact:/);

    const before = program.tokens();
    assert.equal(await auth(program, { serverUrl: url }), 'AUTHORIZED');
    assert.notEqual(program.tokens()?.refresh_token, before?.refresh_token);
    // An open session goes on with the new token, and a new one opens.
    for (const renewed of [client, await open()]) {
      const { results } = await callTool<{ results: unknown[] }>(renewed, 'recall', { query: 'kelp' });
      assert.ok(results.length > 0);
      await renewed.close();
    }
  });

  it('the tool server refuses the token of a program for another resource', async () => {
    const program = new Program();
    const [web] = system.webs;
    const apiUrl = new URL(`${web?.url.replace('127.0.0.1', 'localhost')}/api`);
    assert.equal(await auth(program, { serverUrl: apiUrl }), 'REDIRECT');
    const { returned } = await letIn(program.authorizationUrl?.href ?? '', ['read']);
    const [authorizationCode, iss] = ['code', 'iss'].map((name) => returned.searchParams.get(name) ?? '');
    assert.equal(await auth(program, { serverUrl: apiUrl, authorizationCode, iss }), 'AUTHORIZED');
    const headers = { authorization: `Bearer ${program.tokens()?.access_token}` };
    assert.equal((await fetch(`${web?.url}/api/auth/me/`, { headers })).status, 200);
    const answer = await fetch(server.url, { method: 'POST', headers, body: '{}' });
    assert.equal(answer.status, 401);
    assert.match(answer.headers.get('www-authenticate') ?? '', /error_description="The token is for another/);
  });
});
