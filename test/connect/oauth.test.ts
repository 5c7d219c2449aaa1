import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import * as oauth from 'oauth4webapi';
import type { GrantResponse } from '../../shared/schemas/accounts.ts';
import { logIn, UserClient } from '../support/account.ts';
import { listen } from '../support/listening.ts';
import { useSystem } from '../support/system.ts';
import { letIn } from './logging-in-program.ts';
import { Visitor } from './visitor.ts';

const PASSWORD = 'a horse with 9 staples';
const REDIRECT_URI = 'http://127.0.0.1/callback';
const INSECURE = { [oauth.allowInsecureRequests]: true };
const NO_AUTHENTICATION = oauth.None();

interface Tokens {
  access_token: string;
  refresh_token: string;
  scope: string;
}

describe('OAuth', () => {
  const system = useSystem({ workers: 0, env: { ALLOW_PRIVATE_ADDRESSES: 'true' } });
  let server: oauth.AuthorizationServer;
  let issuer: URL;

  before(async () => {
    issuer = new URL((system.webs[0]?.url ?? '').replace('127.0.0.1', 'localhost'));
    const discovered = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...INSECURE });
    server = await oauth.processDiscoveryResponse(issuer, discovered);
  });

  const api = () => `${issuer.origin}/api`;

  async function register(metadata: object = {}): Promise<oauth.Client> {
    const sent = { client_name: 'Sea Otter', redirect_uris: [REDIRECT_URI], ...metadata };
    const answer = await oauth.dynamicClientRegistrationRequest(server, sent, INSECURE);
    return oauth.processDynamicClientRegistrationResponse(answer);
  }

  /** Returns the address of the page that a program opens. */
  async function addressOf(client: oauth.Client, verifier: string, more: Record<string, string> = {}) {
    const url = new URL(server.authorization_endpoint ?? '');
    url.search = new URLSearchParams({
      response_type: 'code',
      client_id: client.client_id,
      redirect_uri: 'http://127.0.0.1:51999/callback',
      state: 'of the program',
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      scope: 'read write decide',
      resource: api(),
      ...more,
    }).toString();
    return url.href;
  }

  async function exchange(client: oauth.Client, returned: URL, verifier: string): Promise<Response> {
    const parameters = oauth.validateAuthResponse(server, client, returned, 'of the program');
    return oauth.authorizationCodeGrantRequest(
      server,
      client,
      NO_AUTHENTICATION,
      parameters,
      'http://127.0.0.1:51999/callback',
      verifier,
      { ...INSECURE, additionalParameters: { resource: api() } },
    );
  }

  /** Lets a program in as a new person. */
  async function logProgramIn(scopes = ['read', 'write'], asked = 'read write decide') {
    const client = await register();
    const verifier = oauth.generateRandomCodeVerifier();
    const { returned, email, visitor } = await letIn(
      await addressOf(client, verifier, { scope: asked }),
      scopes,
    );
    const answer = await exchange(client, returned, verifier);
    const tokens = (await oauth.processAuthorizationCodeResponse(
      server,
      client,
      answer,
    )) as unknown as Tokens;
    const person = await logPersonIn(email);
    return { client, tokens, person, returned, verifier, visitor };
  }

  async function logPersonIn(email: string): Promise<UserClient> {
    const { body } = await logIn(system, { email, password: PASSWORD });
    const { access, refresh, user } = body;
    return new UserClient({ id: user.id, email, password: PASSWORD, access, refresh }, system);
  }

  const call = (token: string, path = '/api/auth/me/', init: RequestInit = {}) =>
    fetch(`${system.webs[0]?.url}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    });

  const grantsOf = async (person: UserClient) =>
    (await person.get<{ results: GrantResponse[] }>('/api/auth/grants/')).body.results;

  const refresh = (client: oauth.Client, token: string) =>
    oauth.refreshTokenGrantRequest(server, client, NO_AUTHENTICATION, token, INSECURE);

  /** Waits out the second for which an ingress remembers whom a credential belongs to. */
  const untilRefused = async (token: string) => {
    const until = Date.now() + 2000;
    let status = 0;
    while (status !== 401 && Date.now() < until) ({ status } = await call(token));
    assert.equal(status, 401);
  };

  it('a program logs in from the discovery document alone, and may do what the person left checked', async () => {
    const client = await register();
    const verifier = oauth.generateRandomCodeVerifier();
    const url = await addressOf(client, verifier);
    const { returned, asked, email } = await letIn(url, ['read']);
    assert.match(asked, /Nobody vouches for this name/);
    assert.match(asked, /value="read" checked/);
    assert.match(asked, /value="decide">Report your decisions/);
    assert.equal(returned.port, '51999');
    const answer = await exchange(client, returned, verifier);
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, answer);
    assert.deepEqual([tokens.scope, tokens.expires_in], ['read', 3600]);

    assert.equal((await call(tokens.access_token)).status, 200);
    const refused = await call(tokens.access_token, '/api/memory/facts/', {
      method: 'POST',
      body: JSON.stringify({ statement: 'Likes kelp' }),
    });
    assert.equal(refused.status, 403);
    assert.match(await refused.text(), /with the scope write; this one has read/);

    const person = await logPersonIn(email);
    const [grant, ...others] = await grantsOf(person);
    assert.deepEqual(
      [grant?.client_name, grant?.scopes, grant?.resource, others],
      ['Sea Otter', ['read'], api(), []],
    );
    assert.equal((await person.request('DELETE', `/api/auth/grants/${grant?.id}/`)).status, 204);
    await untilRefused(tokens.access_token);
    assert.equal((await refresh(client, tokens.refresh_token ?? '')).status, 400);
  });

  it('401 on /api leads to the metadata of the resource, and that to the server', async () => {
    const { headers } = await call('wrong');
    const [, address = ''] = /resource_metadata="([^"]+)"/.exec(headers.get('www-authenticate') ?? '') ?? [];
    const metadata = (await (await fetch(address)).json()) as {
      resource: string;
      authorization_servers: string[];
    };
    assert.deepEqual([metadata.resource, metadata.authorization_servers], [api(), [issuer.origin]]);
  });

  it('a refresh token works once; repeated at once it gets the same one, used later it ends the grant', async () => {
    const { client, tokens, person } = await logProgramIn();
    const next = (await (await refresh(client, tokens.refresh_token)).json()) as Tokens;
    const again = (await (await refresh(client, tokens.refresh_token)).json()) as Tokens;
    assert.equal(again.refresh_token, next.refresh_token);
    assert.notEqual(next.refresh_token, tokens.refresh_token);
    const third = (await (await refresh(client, next.refresh_token)).json()) as Tokens;
    assert.equal((await call(third.access_token)).status, 200);

    const stolen = await refresh(client, tokens.refresh_token);
    assert.deepEqual(
      [stolen.status, ((await stolen.json()) as { error: string }).error],
      [400, 'invalid_grant'],
    );
    assert.deepEqual(await grantsOf(person), []);
    assert.equal((await refresh(client, third.refresh_token)).status, 400);
    await untilRefused(third.access_token);
  });

  it("a refresh token that was used ends the grant even if the database's clock was set back since", async () => {
    const { client, tokens } = await logProgramIn();
    assert.equal((await refresh(client, tokens.refresh_token)).status, 200);
    await system.sql(`update grants set last_used_at = now() + interval '1 hour'`);
    assert.equal((await refresh(client, tokens.refresh_token)).status, 400);
  });

  it('a refresh that asks for a scope or resource that was not allowed is refused, and uses up no token', async () => {
    const { client, tokens } = await logProgramIn();
    const first = (await (await refresh(client, tokens.refresh_token)).json()) as Tokens;
    for (const [asked, error] of [
      [{ scope: 'forget' }, 'invalid_scope'],
      [{ resource: 'https://other.example/mcp' }, 'invalid_target'],
    ] as const) {
      const additionalParameters = asked as Record<string, string>;
      const refused = await oauth.refreshTokenGrantRequest(
        server,
        client,
        NO_AUTHENTICATION,
        first.refresh_token,
        { ...INSECURE, additionalParameters },
      );
      assert.deepEqual([refused.status, ((await refused.json()) as { error: string }).error], [400, error]);
    }
    // After the time in which a token that was used may be repeated.
    await system.sql(`update grants set last_used_at = now() - interval '1 minute'`);
    assert.equal((await refresh(client, first.refresh_token)).status, 200);
  });

  it('a parameter with a NUL is an invalid request', async () => {
    const { tokens } = await logProgramIn();
    for (const [path, parameters] of [
      ['token', { grant_type: 'refresh_token', refresh_token: tokens.refresh_token }],
      ['revoke', { token: tokens.refresh_token }],
    ] as const) {
      const body = new URLSearchParams({ ...parameters, client_id: 'a\0b' });
      const answer = await fetch(`${system.webs[0]?.url}/oauth/${path}`, { method: 'POST', body });
      const { error } = JSON.parse((await answer.text()) || '{}');
      assert.deepEqual([answer.status, error], [400, 'invalid_request'], path);
    }
  });

  it('a body that is no form is refused in words about forms', async () => {
    const sent = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
    const answer = await fetch(server.token_endpoint ?? '', sent);
    const { error, error_description: says } = (await answer.json()) as Record<string, string>;
    assert.deepEqual(
      [answer.status, error, says],
      [400, 'invalid_request', 'Send the parameters as application/x-www-form-urlencoded.'],
    );
  });

  it('a code works once, with its verifier, for its client and redirect URI; a second exchange ends the grant', async () => {
    const { client, returned, verifier, person } = await logProgramIn();
    assert.equal((await exchange(client, returned, verifier)).status, 400);
    assert.deepEqual(await grantsOf(person), []);

    const other = await register({ client_name: 'Thief' });
    for (const wrong of [
      { client: other, verifier },
      { client, verifier: oauth.generateRandomCodeVerifier() },
    ]) {
      const { returned } = await letIn(await addressOf(client, verifier), ['read']);
      assert.equal((await exchange(wrong.client, returned, wrong.verifier)).status, 400);
      assert.equal((await exchange(client, returned, verifier)).status, 400);
    }
  });

  it('revoking either token ends both (RFC 7009), and only for the client that has it', async () => {
    for (const kind of ['access_token', 'refresh_token'] as const) {
      const { client, tokens, person } = await logProgramIn();
      const revoke = async (by: oauth.Client, token: string) =>
        oauth.processRevocationResponse(
          await oauth.revocationRequest(server, by, NO_AUTHENTICATION, token, INSECURE),
        );
      await revoke(await register(), tokens[kind]);
      await revoke(client, 'unknown');
      assert.equal((await grantsOf(person)).length, 1);
      await revoke(client, tokens[kind]);
      assert.deepEqual(await grantsOf(person), []);
      await untilRefused(tokens.access_token);
    }
  });

  it('the person leaves a program fewer scopes, never more, and may not do so with a key of scopes', async () => {
    const { tokens, person } = await logProgramIn(['read', 'write', 'decide']);
    const [grant] = await grantsOf(person);
    const path = `/api/auth/grants/${grant?.id}/`;
    assert.equal((await person.request('PATCH', path, { scopes: ['read', 'forget'] })).status, 422);
    const narrowed = await person.request<GrantResponse>('PATCH', path, { scopes: ['write'] });
    assert.deepEqual([narrowed.status, narrowed.body.scopes], [200, ['write']]);
    let status = 0;
    const until = Date.now() + 2000;
    while (status !== 403 && Date.now() < until) ({ status } = await call(tokens.access_token));
    assert.equal(status, 403);
    const own = await call(tokens.access_token, path, { method: 'DELETE' });
    assert.equal(own.status, 403);
  });

  it('a new password that revokes keys, and the end of an account, end its programs', async () => {
    const { tokens, person } = await logProgramIn();
    const change = { password: 'another horse, 9 staples', current_password: PASSWORD, revoke_keys: true };
    assert.equal((await person.request('PATCH', '/api/auth/me/', change)).status, 200);
    await untilRefused(tokens.access_token);
  });

  it('a request of an unknown program, or to an address not its own, is shown to the person and goes nowhere', async () => {
    const client = await register();
    const verifier = oauth.generateRandomCodeVerifier();
    for (const [more, says] of [
      [{ client_id: 'unknown' }, /register again/],
      [{ redirect_uri: 'http://127.0.0.1:51999/other' }, /not one of the program/],
      [{ redirect_uri: 'https://evil.example/callback' }, /not one of the program/],
    ] as const) {
      const { status, text, location } = await new Visitor().get(await addressOf(client, verifier, more));
      assert.deepEqual([status, location], [400, null]);
      assert.match(text, says);
    }
  });

  it('a loopback redirect URI with a port that no address has is not one of the program', async () => {
    const client = await register();
    const verifier = oauth.generateRandomCodeVerifier();
    const url = await addressOf(client, verifier);
    const { visitor } = await letIn(url, ['read']);
    const wrong = await addressOf(client, verifier, { redirect_uri: 'http://127.0.0.1:99999/callback' });
    const { status, text } = await visitor.get(wrong);
    assert.equal(status, 400);
    assert.match(text, /redirect URI/);
  });

  it('what else is wrong with a request goes to the program, with state and iss', async () => {
    const client = await register();
    const verifier = oauth.generateRandomCodeVerifier();
    for (const [more, error] of [
      [{ response_type: 'token' }, 'unsupported_response_type'],
      [{ code_challenge_method: 'plain' }, 'invalid_request'],
      [{ scope: 'openid' }, 'invalid_scope'],
      [{ resource: 'https://other.example/mcp' }, 'invalid_target'],
    ] as const) {
      const { status, location } = await new Visitor().get(await addressOf(client, verifier, more));
      assert.equal(status, 303);
      const { searchParams } = new URL(location ?? '');
      const given = ['error', 'state', 'iss'].map((name) => searchParams.get(name));
      assert.deepEqual(given, [error, 'of the program', issuer.origin]);
    }
    const refused = await new Visitor().submit(await addressOf(client, verifier), { do: 'deny' });
    assert.match(refused.location ?? '', /^http:\/\/127\.0\.0\.1:51999\/callback\?error=access_denied&/);
  });

  it('a registration keeps to its bounds, and nothing of it is stored', async () => {
    for (const [metadata, error] of [
      [{ redirect_uris: [] }, 'invalid_client_metadata'],
      [{ redirect_uris: Array(11).fill(REDIRECT_URI) }, 'invalid_client_metadata'],
      [{ redirect_uris: ['http://evil.example/'] }, 'invalid_redirect_uri'],
      [{ redirect_uris: ['javascript://x'] }, 'invalid_redirect_uri'],
      [{ redirect_uris: [`${REDIRECT_URI}#here`] }, 'invalid_redirect_uri'],
    ] as const) {
      const answer = await oauth.dynamicClientRegistrationRequest(server, metadata as object, INSECURE);
      assert.deepEqual([answer.status, ((await answer.json()) as { error: string }).error], [400, error]);
    }
  });

  // RFC 8252, 7.1 has a single slash after the scheme.
  for (const redirect_uri of [
    'cursor://anysphere.cursor-mcp/oauth/callback',
    'com.example.kelp:/oauth2redirect/forecue',
  ])
    it(`a native program gets its code at ${redirect_uri}`, async () => {
      const native = await register({ redirect_uris: [redirect_uri] });
      const url = await addressOf(native, oauth.generateRandomCodeVerifier(), { redirect_uri });
      const page = await new Visitor().get(url);
      const [scheme = ''] = redirect_uri.split(':');
      const policy = page.headers.get('content-security-policy') ?? '';
      assert.ok(policy.includes(`form-action 'self' ${scheme}: https:`), policy);
      const { returned } = await letIn(url, ['read']);
      assert.ok(returned.href.startsWith(`${redirect_uri}?code=`), returned.href);
    });

  it('a program is known by the document at its client_id, which is read once, follows no redirect and is its own', async () => {
    const documents = new Map<string, { status: number; body: object; location?: string }>();
    let reads = 0;
    const web = await listen(
      createServer((request, response) => {
        reads += 1;
        const { status, body, location } = documents.get(request.url ?? '') ?? { status: 404, body: {} };
        response.writeHead(status, { 'content-type': 'application/json', ...(location && { location }) });
        response.end(JSON.stringify(body));
      }),
    );
    const describe = (path: string, document: object, status = 200, location?: string) => {
      const client_id = `${web.url}${path}`;
      const body = { client_id, client_name: 'Kelp', redirect_uris: [REDIRECT_URI], ...document };
      documents.set(path, { status, body, ...(location && { location }) });
      return { client_id };
    };
    const verifier = oauth.generateRandomCodeVerifier();
    const good = describe('/kelp.json', {});
    const url = await addressOf(good, verifier);
    const { returned, asked } = await letIn(url, ['read']);
    assert.ok(asked.includes(`It belongs to <bdi>${new URL(web.url).host}</bdi>`));
    assert.equal((await exchange(good, returned, verifier)).status, 200);
    assert.equal(reads, 1);

    for (const wrong of [
      describe('/other.json', { client_id: 'https://other.example/x.json' }),
      describe('/moved.json', {}, 302, `${web.url}/kelp.json`),
      describe('/empty.json', { redirect_uris: undefined }),
      { client_id: `${web.url}/` },
      { client_id: `${web.url}/kelp.json?x` },
    ]) {
      const { status, location } = await new Visitor().get(await addressOf(wrong, verifier));
      assert.deepEqual([status, location], [400, null], wrong.client_id);
    }
    await web.close();
  });

  it('documents that never arrive, of one network, keep no program of another from its log-in', async () => {
    const { url } = await system.startWeb({ TRUST_PROXY: 'loopback', PUBLIC_URL: issuer.origin });
    const site = createServer((request, response) => {
      if (request.url !== '/kelp.json') return;
      const client_id = `${web.url}/kelp.json`;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ client_id, redirect_uris: [REDIRECT_URI] }));
    });
    await using web = await listen(site);
    const ask = async (network: string, path: string) => {
      const page = new URL(await addressOf({ client_id: `${web.url}${path}` }, 'a verifier'));
      const headers = { 'x-forwarded-for': network };
      const { status } = await fetch(`${url}${page.pathname}${page.search}`, { headers, redirect: 'manual' });
      return `${network} ${status}`;
    };
    const [stranger, other] = ['203.0.113.9', '198.51.100.7'];
    const slow = Array.from({ length: 20 }, (_, n) => ask(stranger, `/slow-${n}.json`));
    await once(site, 'request');
    assert.equal(await Promise.race([...slow, ask(other, '/kelp.json')]), `${other} 200`);
  });

  it('an ingress that cannot reach documents says so, and programs register instead', async () => {
    const supports = async (at: URL) => {
      const answer = await oauth.discoveryRequest(at, { algorithm: 'oauth2', ...INSECURE });
      return ((await answer.json()) as oauth.AuthorizationServer)['client_id_metadata_document_supported'];
    };
    assert.equal(await supports(issuer), true);
    const { url } = await system.startWeb({ CLIENT_DOCUMENTS: 'off' });
    assert.equal(await supports(new URL(url)), false);
    const asked = new URLSearchParams({ client_id: `${url}/client.json`, redirect_uri: REDIRECT_URI });
    const { status, text } = await new Visitor().get(`${url}/connect/authorize?${asked}`);
    assert.equal(status, 400);
    assert.match(text, /register again/);
  });
});
