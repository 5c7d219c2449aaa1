import { isIP } from 'node:net';

export type RedisTarget =
  | { kind: 'single'; url: string }
  | { kind: 'sentinel'; hosts: Host[]; name: string; db: number; username?: string; password?: string }
  | { kind: 'cluster'; hosts: Host[]; username?: string; password?: string };

interface Host {
  host: string;
  port: number;
}

const REDIS_PORT = 6379;
const SENTINEL_PORT = 26379;
const PORT_MAX = 65_535;

/**
 * Matches `redis+sentinel://user:password@h1:26379,h2/name/0` or `redis+cluster://h1:6379,h2`. `URL` cannot parse
 * these: it rejects a list of hosts.
 */
const REDIS_HOST_LIST_URL =
  /^redis\+(?<kind>sentinel|cluster):\/\/(?:(?<username>[^:@/]*)(?::(?<password>[^@/]*))?@)?(?<hosts>[^/@]+)(?:\/(?<path>.*))?$/;

export function parseRedisUrl(value: string): RedisTarget | undefined {
  if (!isDecodable(value)) return undefined;
  if (/^rediss?:/.test(value)) return isServer(value) ? { kind: 'single', url: value } : undefined;
  const { kind, hosts = '', path = '', ...credentials } = value.match(REDIS_HOST_LIST_URL)?.groups ?? {};
  const login = {
    ...(credentials['username'] && { username: decodeURIComponent(credentials['username']) }),
    ...(credentials['password'] && { password: decodeURIComponent(credentials['password']) }),
  };
  const nodes = hostsOf(hosts, kind === 'sentinel' ? SENTINEL_PORT : REDIS_PORT);
  if (nodes === undefined) return undefined;
  if (kind === 'cluster') return path === '' ? { kind, hosts: nodes, ...login } : undefined;
  const [, name, db = '0'] = path.match(/^([^/]+)(?:\/(\d{1,3}))?$/) ?? [];
  if (kind !== 'sentinel' || name === undefined) return undefined;
  return { kind, hosts: nodes, name: decodeURIComponent(name), db: Number(db), ...login };
}

export function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Allows only a database number after the host. A host is required: for `redis:/h/14` the driver would use its default
 * host.
 */
function isServer(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { hostname, pathname } = new URL(text);
  return hostname !== '' && /^(\/(\d{1,3})?)?$/.test(pathname);
}

function hostsOf(list: string, defaultPort: number): Host[] | undefined {
  const hosts = list.split(',').map((one) => {
    const [, host, port] = one.match(/^([A-Za-z0-9._-]+|\[[0-9a-fA-F:]+\])(?::(\d{1,5}))?$/) ?? [];
    return host === undefined
      ? undefined
      : { host: host.replace(/^\[|\]$/g, ''), port: port === undefined ? defaultPort : Number(port) };
  });
  const valid = hosts.filter((one) => one !== undefined).filter(({ port }) => port <= PORT_MAX);
  return valid.length === hosts.length ? valid : undefined;
}

/**
 * Returns a web address without slashes and spaces at its end; undefined if no path can follow it. `URL` also accepts
 * `http:/host`, and hosts with commas and asterisks.
 */
export function parseBase(value: string): string | undefined {
  const address = value.trim().replace(/\/+$/, '');
  const isWhole = /^https?:\/\/[^\s?#,*]+$/i.test(address);
  const url = isWhole ? URL.parse(address) : null;
  return url === null || url.username !== '' || url.password !== '' ? undefined : address;
}

const WEB_PROTOCOL = /^https?:$/;

/** Returns undefined if a value is no origin as browsers send it. */
export function parseOrigins(value: string): string[] | undefined {
  const origins = value.split(',').map((origin) => origin.trim());
  return origins.every(isOrigin) ? origins : undefined;
}

function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { origin, protocol } = new URL(text);
  return WEB_PROTOCOL.test(protocol) && origin === text;
}

/** Returns undefined for what is neither an IP address nor a name, such as a URL. */
export function parseHost(value: string): string | undefined {
  return isIP(value) !== 0 || /^[\w.-]+$/.test(value) ? value : undefined;
}

/** Names that `proxy-addr` knows. */
const NETWORK_NAMES = ['loopback', 'linklocal', 'uniquelocal'];
const ADDRESS_BITS: Record<number, number> = { 4: 32, 6: 128 };

/** Returns undefined if an entry is no address, network (`10.0.0.0/8`) or known name. */
export function parseTrustedProxies(value: string): string[] | undefined {
  const proxies = value.split(',').map((proxy) => proxy.trim());
  return proxies.every((proxy) => NETWORK_NAMES.includes(proxy) || isNetwork(proxy)) ? proxies : undefined;
}

/** Refuses a network /0, since it would trust the whole Internet. */
function isNetwork(text: string): boolean {
  const [, address = '', prefix = '1'] = text.match(/^([\da-fA-F.:]+)(?:\/(\d{1,3}))?$/) ?? [];
  const maxBits = ADDRESS_BITS[isIP(address)];
  return maxBits !== undefined && Number(prefix) >= 1 && Number(prefix) <= maxBits;
}

/** The first secret signs and all verify, so that rotating a key logs nobody out. */
export type SigningKeys = readonly [SigningKey, ...SigningKey[]];
interface SigningKey {
  kid: string;
  secret: string;
}

/** Minimum length of an HMAC-SHA-256 key: the length of the hash (RFC 7518, 3.2). */
export const STRONG_SECRET_BYTES = 32;
const KEY = /^(?<kid>[\w.-]{1,64}):(?<secret>[^,]+)$/;
/** Matches an entry whose secret is long. A single secret with commas is unlikely to have such a part. */
const STRONG_KEY = /^[\w.-]{1,64}:[^,\s]{32,}$/;

/**
 * Accepts one secret, or a list `kid:secret,…`. Returns undefined if a kid repeats, a list has an entry of another form
 * or, with `strong`, a secret is too short.
 */
export function parseSigningKeys(value: string, { strong }: { strong: boolean }): SigningKeys | undefined {
  const entries = value.split(',').map((entry) => entry.trim());
  const listedKeys = entries.map(parseEntry).filter((key) => key !== undefined);
  const isList = listedKeys.length === entries.length;
  if (!isList && entries.length > 1 && entries.some((entry) => STRONG_KEY.test(entry))) return undefined;
  const [first, ...others] = isList ? listedKeys : [{ kid: 'default', secret: value }];
  if (first === undefined) return undefined;
  const keys = [first, ...others] as const;
  if (new Set(keys.map(({ kid }) => kid)).size < keys.length) return undefined;
  if (strong && keys.some(({ secret }) => Buffer.byteLength(secret) < STRONG_SECRET_BYTES)) return undefined;
  return keys;
}

function parseEntry(entry: string): SigningKey | undefined {
  const { kid, secret } = entry.match(KEY)?.groups ?? {};
  return kid === undefined || secret === undefined ? undefined : { kid, secret };
}
