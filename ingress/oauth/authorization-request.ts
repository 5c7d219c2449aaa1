import { DEFAULT_SCOPES, isOwnResource, type ResourcePlaces } from '../../shared/domain/resource.ts';
import type { Scope } from '../../shared/schemas/accounts.ts';
import { isStorable } from '../../shared/schemas/build.ts';
import { scopesIn } from '../auth/grant-tokens.ts';
import { withParameters } from '../connect/browser.ts';
import { ProgramRefused, SentBack } from '../connect/errors.ts';
import { hasRedirectUri, type OauthClient } from './clients.ts';
import { OauthError } from './errors.ts';

/** A program's request to be let in (RFC 6749, 4.1.1), which its address holds whole: nothing is stored before a yes. */
export interface AuthorizationRequest {
  client: OauthClient;
  redirectUri: string;
  /** Opaque value of the program, which the redirect returns. */
  state: string | undefined;
  codeChallenge: string;
  scopes: readonly Scope[];
  resource: string;
}

const NAMES = [
  'response_type',
  'client_id',
  'redirect_uri',
  'state',
  'code_challenge',
  'code_challenge_method',
  'scope',
  'resource',
];

/** Returns the query of a request without what is not its own, as the address of its page. */
export function requestQuery(querystring: string): URLSearchParams {
  const own = new URLSearchParams();
  for (const [name, value] of new URLSearchParams(querystring))
    if (NAMES.includes(name)) own.append(name, value);
  return own;
}

/** Throws `ProgramRefused` while it is not sure whom the request comes from, and `SentBack` for all other faults. */
export async function readRequest(
  query: URLSearchParams,
  find: (clientId: string) => Promise<OauthClient>,
  places: ResourcePlaces,
): Promise<AuthorizationRequest> {
  const client = await orThrow(
    () => find(query.get('client_id') ?? ''),
    ({ message }) => new ProgramRefused(message),
  );
  const redirectUri = query.get('redirect_uri') ?? soleOf(client.redirectUris);
  if (!hasRedirectUri(client, redirectUri))
    throw new ProgramRefused("The redirect URI is not one of the program's own.");
  const state = query.get('state') ?? undefined;
  const terms = await orThrow(
    async () => readTerms(query, places),
    ({ code, message }) => {
      const outcome = { error: code, error_description: message, ...answerTo(state, places) };
      return new SentBack(withParameters(redirectUri, outcome));
    },
  );
  return { client, redirectUri, state, ...terms };
}

/** Throws another error in place of an `OauthError`. */
async function orThrow<T>(work: () => Promise<T>, other: (error: OauthError) => Error): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof OauthError ? other(error) : error;
  }
}

/**
 * What every answer has: the program's own value, and `iss`, by which it tells us from another server (RFC 9207).
 */
export function answerTo(
  state: string | undefined,
  { publicUrl }: Pick<ResourcePlaces, 'publicUrl'>,
): Record<string, string> {
  return { ...(state !== undefined && { state }), iss: publicUrl };
}

function soleOf(redirectUris: readonly string[]): string {
  const [first = '', ...others] = redirectUris;
  return others.length === 0 ? first : '';
}

const CHALLENGE = /^[\w-]{43}$/;

function readTerms(query: URLSearchParams, places: ResourcePlaces) {
  if (new Set(query.keys()).size < query.size)
    throw new OauthError('invalid_request', 'A parameter is there twice.');
  if (query.get('response_type') !== 'code')
    throw new OauthError('unsupported_response_type', 'Use the response type code.');
  const codeChallenge = query.get('code_challenge') ?? '';
  if (query.get('code_challenge_method') !== 'S256' || !CHALLENGE.test(codeChallenge))
    throw new OauthError('invalid_request', 'PKCE with S256 is required.');
  const scopes = scopesIn(query.get('scope') || DEFAULT_SCOPES.join(' '));
  if (scopes.length === 0) throw new OauthError('invalid_scope', 'None of these scopes exists.');
  const resource = query.get('resource') ?? defaultResource(places);
  if (!isStorable(resource) || !isOwnResource(resource, places))
    throw new OauthError('invalid_target', 'There is no such resource here.');
  return { codeChallenge, scopes, resource };
}

/** The tool server, whose tokens `/api` accepts, too. */
function defaultResource({ mcpUrl }: ResourcePlaces): string {
  return mcpUrl ?? 'http://127.0.0.1:8090/mcp';
}
