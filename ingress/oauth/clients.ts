import { LRUCache } from 'lru-cache';
import type { IngressConfig } from '../../shared/config/config.ts';
import { withoutLoopbackPort } from '../../shared/domain/resource.ts';
import { GuardedFetchError, guardedFetch } from '../../shared/net/guarded-fetch.ts';
import { KIB } from '../../shared/schemas/limits.ts';
import { ClientMetadata } from '../../shared/schemas/oauth.ts';
import { compile } from '../../shared/schemas/validator.ts';
import { ConcurrencyLimiter } from '../../shared/timing/concurrency-limiter.ts';
import type { SignedTokens } from '../auth/signed-tokens.ts';
import { OauthError } from './errors.ts';

/** A program that asks people to let it in. */
export interface OauthClient {
  id: string;
  name: string;
  redirectUris: readonly string[];
  /** Host of the document in which the program describes itself; undefined: nothing vouches for its name. */
  host: string | undefined;
}

const checkMetadata = compile(ClientMetadata);

/** How long a registration lasts. */
const REGISTRATION = { typ: 'client+jwt', lifetimeS: 365 * 24 * 3600 };
const CLIENT_ID_MAX = 8 * KIB;

const DOCUMENT = { timeoutMs: 5000, bytesMax: 16 * KIB };
/** Documents are read again after this time; failures too, so that nobody makes us ask a server often. */
const CACHED_DOCUMENTS = { max: 1000, ttl: 5 * 60_000 };
/** Reads at once, in all and for one network. */
const READS = { capacity: 16, maxPerParty: 2 };

/**
 * Knows programs by their `client_id`: an address at which the program describes itself (a client id metadata document),
 * or what `register` has signed. Neither takes a row, so strangers can fill nothing.
 */
export class OauthClients {
  readonly #tokens: SignedTokens;
  readonly readsDocuments: boolean;
  readonly #allowsPrivate: boolean;
  readonly #documents = new LRUCache<string, Promise<OauthClient>>(CACHED_DOCUMENTS);
  readonly #reads = new ConcurrencyLimiter(READS);

  constructor(
    tokens: SignedTokens,
    config: Pick<IngressConfig, 'allowPrivateAddresses' | 'clientDocuments'>,
  ) {
    this.#tokens = tokens;
    this.readsDocuments = config.clientDocuments;
    this.#allowsPrivate = config.allowPrivateAddresses;
  }

  /** Registers a program (RFC 7591): its id contains what it said, signed. Throws an `OauthError`. */
  async register(metadata: unknown): Promise<object> {
    const { client_name = '', redirect_uris } = metadataIn(metadata);
    const { issuer } = this.#tokens;
    const clientId = await this.#tokens.sign(REGISTRATION, issuer, { client_name, redirect_uris });
    return {
      client_id: clientId,
      client_id_issued_at: Math.floor(Date.now() / 1000),
      ...(client_name && { client_name }),
      redirect_uris,
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    };
  }

  /** Throws `invalid_client` for an id that nobody has. `network` is that of the caller. */
  async find(clientId: string, network: string): Promise<OauthClient> {
    if (clientId.length > CLIENT_ID_MAX) throw new OauthError('invalid_client', 'The client_id is too long.');
    return this.#isDocument(clientId) ? this.#described(clientId, network) : this.#registered(clientId);
  }

  #isDocument(clientId: string): boolean {
    const isAddress =
      clientId.startsWith('https://') || (this.#allowsPrivate && clientId.startsWith('http://'));
    return isAddress && this.readsDocuments;
  }

  async #registered(clientId: string): Promise<OauthClient> {
    const payload = await this.#tokens.verify(clientId, REGISTRATION, this.#tokens.issuer);
    if (typeof payload === 'string')
      throw new OauthError('invalid_client', 'The client_id is unknown or has expired: register again.');
    const { client_name = '', redirect_uris: redirectUris } = metadataIn(payload);
    return { id: clientId, name: client_name, redirectUris, host: undefined };
  }

  async #described(clientId: string, network: string): Promise<OauthClient> {
    return (
      this.#documents.get(clientId) ??
      // Looks again in its turn: another caller may have read the document by then.
      this.#reads.run(() => this.#documents.get(clientId) ?? this.#read(clientId), { party: network })
    );
  }

  #read(clientId: string): Promise<OauthClient> {
    const reading = readDocument(clientId, this.#allowsPrivate);
    this.#documents.set(clientId, reading);
    return reading;
  }
}

async function readDocument(clientId: string, allowsPrivate: boolean): Promise<OauthClient> {
  const url = URL.parse(clientId);
  // The parts that the specification excludes, and spellings of which an address has many.
  if (url === null || url.href !== clientId || url.pathname === '/' || url.hash !== '' || url.search !== '')
    throw new OauthError('invalid_client', 'The client_id is no address of a metadata document.');
  const headers = { Accept: 'application/json' };
  const document = await guardedFetch(url, { ...DOCUMENT, headers, allowsPrivate }).catch(
    (error: unknown) => {
      const why = error instanceof GuardedFetchError ? `: ${error.message}` : '';
      throw new OauthError('invalid_client', `The document at the client_id cannot be read${why}.`);
    },
  );
  if (document.status !== 200 || !/^application\/(\S+\+)?json\b/i.test(document.contentType))
    throw new OauthError('invalid_client', 'There is no JSON document at the client_id.');
  const metadata = parse(document.text);
  if (metadata['client_id'] !== clientId)
    throw new OauthError('invalid_client', 'The document at the client_id names another client_id.');
  const { client_name = '', redirect_uris: redirectUris } = metadataIn(metadata);
  return { id: clientId, name: client_name || url.host, redirectUris, host: url.host };
}

function parse(json: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(json)) as Record<string, unknown>;
  } catch {
    throw new OauthError('invalid_client', 'The document at the client_id is not JSON.');
  }
}

function metadataIn(sent: unknown): ClientMetadata {
  const checked = checkMetadata(sent);
  if (!checked.ok) {
    const [fault] = checked.faults;
    throw new OauthError('invalid_client_metadata', `${fault?.loc.slice(1).join('.')}: ${fault?.msg}`);
  }
  for (const redirectUri of checked.value.redirect_uris)
    if (!isRedirectUri(redirectUri))
      throw new OauthError('invalid_redirect_uri', 'A redirect URI is https, loopback, or of an own scheme.');
  return checked.value;
}

const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);
/** Schemes with a meaning of their own, which no native program may claim (RFC 8252, 7.1). */
const TAKEN_SCHEME =
  /^(about|blob|data|file|filesystem|ftps?|http|javascript|mailto|tel|urn|vbscript|view-source|wss?):$/;

/** Accepts https, http on this machine, and the scheme of a native program. */
function isRedirectUri(value: string): boolean {
  const url = URL.parse(value);
  if (url === null || url.hash !== '' || /[\s\p{Cc}]/u.test(value)) return false;
  if (url.protocol === 'https:') return true;
  if (url.protocol === 'http:') return LOOPBACK_HOSTS.has(url.hostname);
  return value.includes(':/') && !TAKEN_SCHEME.test(url.protocol);
}

/** Compares character by character, but for the port of a loopback address. */
export function hasRedirectUri({ redirectUris }: OauthClient, asked: string): boolean {
  return redirectUris.some((uri) => uri === asked || withoutLoopbackPort(uri) === withoutLoopbackPort(asked));
}
