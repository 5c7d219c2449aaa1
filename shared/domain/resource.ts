/** Public addresses of the two protected resources (RFC 9728), and of the server that issues their tokens. */
export interface ResourcePlaces {
  /** Base of every URL, and the issuer. */
  publicUrl: string;
  /** Address of the tool server; undefined in development: any loopback address. */
  mcpUrl: string | undefined;
}

/** The header `typ` of a program's access token (RFC 9068, 2.1). */
export const GRANT_TOKEN_TYPE = 'at+jwt';

const LOOPBACK_TOOL_SERVER = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?\/mcp$/;

export function isToolServer(resource: string, { mcpUrl }: Pick<ResourcePlaces, 'mcpUrl'>): boolean {
  return mcpUrl === undefined ? LOOPBACK_TOOL_SERVER.test(resource) : resource === mcpUrl;
}

export function apiResource({ publicUrl }: Pick<ResourcePlaces, 'publicUrl'>): string {
  return `${publicUrl}/api`;
}

/**
 * Returns true for the audience of a token that `/api` accepts: its own, and the tool server's, which calls `/api` with
 * the token that it was sent.
 */
export function isOwnResource(resource: string, places: ResourcePlaces): boolean {
  return resource === apiResource(places) || isToolServer(resource, places);
}

/** Path of the metadata of a resource at this path (RFC 9728, 3.1). */
export const RESOURCE_METADATA_PATH = '/.well-known/oauth-protected-resource';

/** Scopes of a program that asks for none: those of an agent's key. */
export const DEFAULT_SCOPES = ['read', 'predict', 'write'] as const;

/** The metadata of a protected resource (RFC 9728, 2). */
export function resourceMetadata(resource: string, publicUrl: string): object {
  return {
    resource,
    resource_name: 'Forecue',
    authorization_servers: [publicUrl],
    scopes_supported: DEFAULT_SCOPES,
    bearer_methods_supported: ['header'],
  };
}

const PORT = '(?:[0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])';
/** Loopback redirect URIs of native programs differ from the registered ones in their port (RFC 8252, 7.3). */
export const LOOPBACK_PORT = String.raw`^(http://(?:localhost|127[.]0[.]0[.]1|\[::1\])):${PORT}(?=[/?]|$)`;
const LOOPBACK_WITH_PORT = new RegExp(LOOPBACK_PORT);

export function withoutLoopbackPort(redirectUri: string): string {
  return redirectUri.replace(LOOPBACK_WITH_PORT, '$1');
}
