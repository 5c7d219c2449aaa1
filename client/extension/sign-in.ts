import { createPkce } from '../src/connect.ts';
import type { Grant } from './settings.ts';

/** Suffices for predictions; what an answer says of the memory that it used needs more, and is not asked for. */
const SCOPE = 'predict';

interface ServerMetadata {
  issuer: string;
  authorization_endpoint: string;
  token_endpoint: string;
  registration_endpoint: string;
  revocation_endpoint: string;
}

interface Tokens {
  access_token: string;
  refresh_token: string;
}

/** Asks the person on a page of the server, and gets tokens for their yes. Throws an `Error` for anything else. */
export async function signIn(server: string): Promise<Grant> {
  const metadata = await readMetadata(server);
  const redirectUri = chrome.identity.getRedirectURL('signed-in');
  const { client_id: clientId } = await sendJson<{ client_id: string }>(metadata.registration_endpoint, {
    client_name: chrome.i18n.getMessage('program'),
    redirect_uris: [redirectUri],
    token_endpoint_auth_method: 'none',
  });
  const { verifier, challenge } = await createPkce();
  const resource = `${metadata.issuer}/api`;
  const state = crypto.randomUUID();
  const request = new URL(metadata.authorization_endpoint);
  request.search = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    state,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    scope: SCOPE,
    resource,
  }).toString();
  const back = await chrome.identity.launchWebAuthFlow({ url: request.href, interactive: true });
  const answer = new URL(back ?? redirectUri).searchParams;
  const code = answer.get('code');
  if (code === null || answer.get('state') !== state || answer.get('iss') !== metadata.issuer)
    throw new Error('the server did not let the extension in');
  const tokens = await sendForm<Tokens>(metadata.token_endpoint, {
    grant_type: 'authorization_code',
    client_id: clientId,
    code,
    code_verifier: verifier,
    redirect_uri: redirectUri,
    resource,
  });
  return {
    server,
    clientId,
    access: tokens.access_token,
    refresh: tokens.refresh_token,
    tokenEndpoint: metadata.token_endpoint,
    revocationEndpoint: metadata.revocation_endpoint,
  };
}

/** Reads where the server lets programs in (RFC 8414), and that it calls itself what the person does. */
async function readMetadata(server: string): Promise<ServerMetadata> {
  const { origin, pathname } = new URL(server);
  const path = pathname.replace(/\/$/, '');
  const metadata = await send<ServerMetadata>(`${origin}/.well-known/oauth-authorization-server${path}`, {});
  if (metadata.issuer !== origin + path) throw new Error('the server has another address');
  return metadata;
}

/** Exchanges the refresh token, which works once. Resolves with undefined if the server no longer knows it. */
export async function renew(grant: Grant): Promise<Grant | undefined> {
  const { clientId, refresh, tokenEndpoint } = grant;
  const form = { grant_type: 'refresh_token', client_id: clientId, refresh_token: refresh };
  try {
    const tokens = await sendForm<Tokens>(tokenEndpoint, form);
    return { ...grant, access: tokens.access_token, refresh: tokens.refresh_token };
  } catch (error) {
    if (error instanceof Refused) return undefined;
    throw error;
  }
}

/** Ends the grant at the server, with all its tokens. */
export async function revoke({ clientId, refresh, revocationEndpoint }: Grant): Promise<void> {
  await sendForm(revocationEndpoint, { client_id: clientId, token: refresh });
}

/** The server answered no: asking again does not help. */
class Refused extends Error {}

function sendJson<T>(url: string, body: object): Promise<T> {
  const headers = { 'content-type': 'application/json' };
  return send<T>(url, { method: 'POST', headers, body: JSON.stringify(body) });
}

function sendForm<T>(url: string, fields: Record<string, string>): Promise<T> {
  return send<T>(url, { method: 'POST', body: new URLSearchParams(fields) });
}

async function send<T>(url: string, init: RequestInit): Promise<T> {
  const response = await fetch(url, { ...init, credentials: 'omit', redirect: 'error' });
  if (response.status === 400 || response.status === 401) throw new Refused(`answered ${response.status}`);
  if (!response.ok) throw new Error(`answered ${response.status}`);
  const text = await response.text();
  return (text === '' ? undefined : JSON.parse(text)) as T;
}
