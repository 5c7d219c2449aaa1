import type { EntityManager } from '@mikro-orm/postgresql';
import type { Grant } from '../../shared/db/entities/grant.ts';
import { endGrant, exchangeCode, renewGrant } from '../../shared/db/stores/grants.ts';
import { type ResourcePlaces, resourceMetadata } from '../../shared/domain/resource.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import { SCOPES, type Scope } from '../../shared/schemas/accounts.ts';
import { SMALL_BODY_BYTES_MAX } from '../../shared/schemas/limits.ts';
import { GrantTokens, scopesIn } from '../auth/grant-tokens.ts';
import { readForm } from '../connect/browser.ts';
import type { TakeTurn } from '../guards/account-turns.ts';
import { Bodies } from '../guards/bodies.ts';
import type { PageContext } from '../http/endpoint.ts';
import { networkOf } from '../request/address.ts';
import type { OauthClients } from './clients.ts';
import { OauthError } from './errors.ts';
import type { RefreshTokens } from './refresh-tokens.ts';

export interface OauthParts extends ResourcePlaces {
  em: () => EntityManager;
  clients: OauthClients;
  grantTokens: GrantTokens;
  refreshTokens: RefreshTokens;
  takeTurn: TakeTurn;
}

const readMetadata = new Bodies(async () => {}).reader({
  credential: 'none',
  keepsBody: false,
  limit: SMALL_BODY_BYTES_MAX,
  values: 500,
});

/**
 * What programs call to log in without a key: the metadata (RFC 9728, RFC 8414), registration (RFC 7591), the token
 * endpoint (RFC 6749, RFC 7636, RFC 8707) and revocation (RFC 7009). The person decides on a page of `/connect`.
 */
export class OauthEndpoints {
  readonly #parts: OauthParts;

  constructor(parts: OauthParts) {
    this.#parts = parts;
  }

  describeServer(ctx: PageContext): void {
    const { publicUrl, clients } = this.#parts;
    sendJson(ctx, {
      issuer: publicUrl,
      authorization_endpoint: `${publicUrl}/connect/authorize`,
      token_endpoint: `${publicUrl}/oauth/token`,
      registration_endpoint: `${publicUrl}/oauth/register`,
      revocation_endpoint: `${publicUrl}/oauth/revoke`,
      scopes_supported: SCOPES,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: ['none'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: clients.readsDocuments,
    });
  }

  describeResource(ctx: PageContext, resource: string | undefined): void {
    if (resource === undefined) throw new AppError('not_found');
    sendJson(ctx, resourceMetadata(resource, this.#parts.publicUrl));
  }

  async register(ctx: PageContext): Promise<void> {
    const { clients } = this.#parts;
    const client = await readMetadata(ctx, networkOf(ctx.state.address), (sent) => clients.register(sent));
    sendJson(ctx, client, 201);
  }

  async issueTokens(ctx: PageContext): Promise<void> {
    const form = await readParameters(ctx);
    const grantType = required(form, 'grant_type');
    const clientId = required(form, 'client_id');
    if (grantType === 'authorization_code') return this.#answer(ctx, await this.#exchange(form, clientId));
    if (grantType === 'refresh_token')
      return this.#answer(ctx, await this.#renew(form, clientId), form.get('scope') ?? undefined);
    throw new OauthError('unsupported_grant_type', 'Use authorization_code or refresh_token.');
  }

  /** Ends the grant of either token, and with it all others. Answers alike for a token that nobody has (RFC 7009). */
  async revoke(ctx: PageContext): Promise<void> {
    const form = await readParameters(ctx);
    const token = required(form, 'token');
    const clientId = required(form, 'client_id');
    const { em, grantTokens, refreshTokens } = this.#parts;
    const access = await grantTokens.verify(token);
    const grantId = refreshTokens.read(token)?.grantId ?? (typeof access === 'object' && access.grantId);
    if (grantId) await endGrant(em(), grantId, clientId);
    ctx.status = 200;
    ctx.body = '';
  }

  async #exchange(form: URLSearchParams, clientId: string): Promise<Grant> {
    const { em, takeTurn } = this.#parts;
    const exchange = {
      code: required(form, 'code'),
      codeVerifier: required(form, 'code_verifier'),
      redirectUri: form.get('redirect_uri') ?? undefined,
      resource: form.get('resource') ?? undefined,
      clientId,
    };
    const grant = await takeTurn({ party: clientId }, () => exchangeCode(em(), exchange));
    if (grant === undefined)
      throw new OauthError(
        'invalid_grant',
        'The code is unknown, was used, has expired, or belongs to another request.',
      );
    return grant;
  }

  async #renew(form: URLSearchParams, clientId: string): Promise<Grant> {
    const { em, refreshTokens, takeTurn } = this.#parts;
    const claim = refreshTokens.read(required(form, 'refresh_token'));
    const check = (grant: Grant) => checkRefresh(grant, form);
    const grant =
      claim && (await takeTurn({ party: claim.grantId }, () => renewGrant(em(), claim, clientId, check)));
    if (grant === undefined)
      throw new OauthError(
        'invalid_grant',
        'The refresh token is unknown or was used, or its grant has ended.',
      );
    return grant;
  }

  async #answer(ctx: PageContext, grant: Grant, asked?: string): Promise<void> {
    const { grantTokens, refreshTokens } = this.#parts;
    const { id: grantId, account, clientId, resource, refreshes: number } = grant;
    ctx.state.accountId = account.id;
    const scopes = scopesOf(grant, asked);
    const claims = { accountId: account.id, grantId, clientId, resource, scopes };
    sendJson(ctx, {
      access_token: await grantTokens.issue(claims),
      token_type: 'Bearer',
      expires_in: GrantTokens.lifetimeS,
      refresh_token: refreshTokens.issue({ grantId, number }),
      scope: scopes.join(' '),
    });
  }
}

/** Throws unless the person has allowed the resource and one of the scopes that a refresh asks for. */
function checkRefresh(grant: Grant, form: URLSearchParams): void {
  const resource = form.get('resource');
  if (resource !== null && resource !== grant.resource)
    throw new OauthError('invalid_target', 'The grant is for another resource.');
  scopesOf(grant, form.get('scope') ?? undefined);
}

/** Returns those of the grant's scopes that the program asks for now. Throws `invalid_scope` if there is none. */
function scopesOf(grant: Grant, asked: string | undefined): Scope[] {
  const named = asked === undefined ? grant.scopes : scopesIn(asked);
  const scopes = grant.scopes.filter((scope) => named.includes(scope));
  if (scopes.length === 0) throw new OauthError('invalid_scope', 'None of these scopes was allowed.');
  return scopes;
}

function sendJson(ctx: PageContext, body: object, status = 200): void {
  ctx.status = status;
  ctx.type = 'json';
  ctx.body = JSON.stringify(body);
}

/** Throws `invalid_request` for a form with a parameter twice (RFC 6749, 3.2), or with a NUL, which no row can hold. */
async function readParameters(ctx: PageContext): Promise<URLSearchParams> {
  const form = await readForm(ctx).catch((error: unknown) => {
    if (!(error instanceof AppError) || error.code !== 'invalid_content_type') throw error;
    throw new OauthError('invalid_request', 'Send the parameters as application/x-www-form-urlencoded.');
  });
  if (new Set(form.keys()).size < form.size)
    throw new OauthError('invalid_request', 'A parameter is there twice.');
  if ([...form.values()].join('').includes('\0'))
    throw new OauthError('invalid_request', 'A parameter has a NUL.');
  return form;
}

function required(form: URLSearchParams, name: string): string {
  const value = form.get(name);
  if (!value) throw new OauthError('invalid_request', `The parameter ${name} is missing.`);
  return value;
}
