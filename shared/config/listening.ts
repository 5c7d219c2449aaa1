import type { Env } from './env.ts';
import { parseHost, parseOrigins, parseTrustedProxies } from './values.ts';

const HOST_FORMAT = 'an address or a name of this machine, without a port';
const TRUST_PROXY_FORMAT =
  'addresses, networks (10.0.0.0/8) or the names loopback, linklocal and uniquelocal, comma separated';
const CORS_ORIGINS_FORMAT =
  'origins as browsers send them (https://host or https://host:port), comma separated';

export function readListeningSettings(env: Env, production: boolean) {
  return {
    host: env.parsed('HOST', parseHost, HOST_FORMAT) ?? (production ? '0.0.0.0' : '127.0.0.1'),
    /** Addresses, networks or names that `proxy-addr` knows. */
    trustProxy: env.parsed('TRUST_PROXY', parseTrustedProxies, TRUST_PROXY_FORMAT) ?? [],
    /** Origins whose pages may use `/api` and the tool server. */
    corsOrigins: env.parsed('CORS_ORIGINS', parseOrigins, CORS_ORIGINS_FORMAT) ?? [],
    /** Maximum number of open connections: of the process, and from one address or IPv6 network. */
    connections: {
      atOnce: env.integer('MAX_CONNECTIONS', 5000, { min: 1, max: 1_000_000 }),
      perNetwork: env.integer('MAX_CONNECTIONS_PER_ADDRESS', 500, { min: 1, max: 1_000_000 }),
    },
    /** A client that reads nothing of its response is disconnected after this time, in milliseconds. */
    sendTimeoutMs: env.integer('SEND_TIMEOUT_MS', 30_000, { min: 1000, max: 600_000 }),
  };
}

/** Address of the tool server for its clients; undefined in development: any loopback address. */
export function readToolServerUrl(env: Env, production: boolean): string | undefined {
  const url = env.base('MCP_PUBLIC_URL');
  const publicUrl = env.base('PUBLIC_URL');
  return url ?? (production && publicUrl !== undefined ? `${publicUrl}/mcp` : undefined);
}

export function readOperatorAddress(env: Env, port: number) {
  return {
    host: env.parsed('OPERATOR_HOST', parseHost, HOST_FORMAT) ?? '127.0.0.1',
    port: env.integer('OPERATOR_PORT', port, { min: 0, max: 65535 }),
  };
}
