import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** Special-purpose networks (IANA's registries), in which only this installation's own surroundings may be. */
const PRIVATE_IPV4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const;
/** Parts of the global unicast network 2000::/3 that lead elsewhere, such as to an IPv4 address. */
const PRIVATE_IPV6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const;

const privateNetworks = new BlockList();
for (const [network, prefix] of PRIVATE_IPV4) privateNetworks.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of PRIVATE_IPV6) privateNetworks.addSubnet(network, prefix, 'ipv6');
const globalIpv6 = new BlockList();
globalIpv6.addSubnet('2000::', 3, 'ipv6');

/** Returns true for an address that anybody on the internet can reach. */
function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !privateNetworks.check(address, 'ipv4');
  return globalIpv6.check(address, 'ipv6') && !privateNetworks.check(address, 'ipv6');
}

/** Why a request to an address that a stranger chose was not made, or its answer not used. */
export class GuardedFetchError extends Error {
  override readonly name = 'GuardedFetchError';
}

interface GuardedRequest {
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string;
  /** Limit of the whole exchange. */
  timeoutMs: number;
  /** Maximum bytes of the answer's body; a longer one is cut off and is an error. 0: the body is not read. */
  bytesMax: number;
  /** Allows addresses of private networks and plain http, for tests and closed networks. */
  allowsPrivate: boolean;
}

interface GuardedAnswer {
  status: number;
  contentType: string;
  text: string;
}

/** Says why an address would not be called, as far as it is known before its name is resolved. */
export function addressFault(url: URL, allowsPrivate: boolean): string | undefined {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (url.protocol !== 'https:' && !(allowsPrivate && url.protocol === 'http:'))
    return 'only https is called';
  if (url.username !== '' || url.password !== '') return 'the address has a password';
  // Node resolves no literal address, so `lookup` would not see it.
  if (!allowsPrivate && isIP(host) !== 0 && !isPublicAddress(host)) return PRIVATE;
  return undefined;
}

/**
 * Calls an address that a stranger chose, against SSRF: only https, only public addresses, and the connection goes to
 * the address that was checked. Follows no redirect. Rejects with a `GuardedFetchError` or an error of the network.
 */
export function guardedFetch(url: URL, options: GuardedRequest): Promise<GuardedAnswer> {
  const { method = 'GET', headers = {}, body, timeoutMs, bytesMax, allowsPrivate } = options;
  const { promise, resolve, reject } = Promise.withResolvers<GuardedAnswer>();
  const fault = addressFault(url, allowsPrivate);
  if (fault !== undefined) return Promise.reject(new GuardedFetchError(fault));
  const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'Content-Length': Buffer.byteLength(body) }) },
    agent: false,
    signal: AbortSignal.timeout(timeoutMs),
    ...(!allowsPrivate && { lookup: lookUpPublic }),
  });
  request.on('error', reject);
  request.on('response', (response) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.on('error', reject);
    if (bytesMax === 0) {
      resolve({ status: response.statusCode ?? 0, contentType: '', text: '' });
      return void request.destroy();
    }
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes <= bytesMax) return;
      reject(new GuardedFetchError('the answer is too long'));
      request.destroy();
    });
    response.on('end', () =>
      resolve({
        status: response.statusCode ?? 0,
        contentType: response.headers['content-type'] ?? '',
        text: Buffer.concat(chunks).toString(),
      }),
    );
  });
  request.end(body);
  return promise;
}

const PRIVATE = 'the address is of a private network';

/** Limits of one question to a name server. */
const QUESTION = { timeout: 2000, tries: 2 };

/** Resolves a name, and refuses it if any of its addresses is private. The caller connects to what this returns. */
const lookUpPublic: LookupFunction = (hostname, options, callback) => {
  resolvePublic(hostname).then(
    ([first, ...others]) =>
      options.all ? callback(null, [first, ...others]) : callback(null, first.address, first.family),
    (error: NodeJS.ErrnoException) => callback(error, []),
  );
};

/**
 * Asks the name servers themselves. Node's `lookup` would take a thread for as long as they are silent, of which there
 * are two: by a few such names a stranger would keep the process from its database.
 */
async function resolvePublic(name: string): Promise<[LookupAddress, ...LookupAddress[]]> {
  if (/(^|\.)localhost\.?$/i.test(name)) throw new GuardedFetchError(PRIVATE);
  const resolver = new Resolver(QUESTION);
  const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const [first, ...others] = [...addressesOf(ipv4, 4), ...addressesOf(ipv6, 6)];
  if (first === undefined)
    throw ipv4.status === 'rejected' ? ipv4.reason : new GuardedFetchError('no address');
  if (![first, ...others].every(({ address }) => isPublicAddress(address)))
    throw new GuardedFetchError(PRIVATE);
  return [first, ...others];
}

function addressesOf(found: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] {
  return found.status === 'fulfilled' ? found.value.map((address) => ({ address, family })) : [];
}
