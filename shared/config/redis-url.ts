/** How to reach Redis or Valkey: a single server, the master that Sentinel names, or a cluster. */
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

/** `redis+sentinel://user:password@h1:26379,h2/name/0` or `redis+cluster://h1:6379,h2`. `URL` rejects a list of hosts. */
const MANY =
  /^redis\+(?<kind>sentinel|cluster):\/\/(?:(?<username>[^:@/]*)(?::(?<password>[^@/]*))?@)?(?<hosts>[^/@]+)(?:\/(?<path>.*))?$/;

/** Parses `REDIS_URL`; undefined when it is invalid. */
export function parseRedisUrl(value: string): RedisTarget | undefined {
  if (/^rediss?:/.test(value)) return URL.canParse(value) ? { kind: 'single', url: value } : undefined;
  const { kind, hosts = '', path = '', ...credentials } = value.match(MANY)?.groups ?? {};
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

function hostsOf(list: string, defaultPort: number): Host[] | undefined {
  const hosts = list.split(',').map((one) => {
    const [, host, port] = one.match(/^([A-Za-z0-9._-]+|\[[0-9a-fA-F:]+\])(?::(\d{1,5}))?$/) ?? [];
    return host === undefined
      ? undefined
      : { host: host.replace(/^\[|\]$/g, ''), port: port === undefined ? defaultPort : Number(port) };
  });
  const known = hosts.filter((one) => one !== undefined).filter(({ port }) => port <= PORT_MAX);
  return known.length === hosts.length ? known : undefined;
}
