import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import proxyAddress from 'proxy-addr';

/** Returns true for the address of a trusted proxy. The second argument is the number of hops between it and us. */
export type IsTrusted = ReturnType<typeof proxyAddress.compile>;

/** Returns the function that checks whether an address belongs to one of these proxies. */
export function compileTrust(proxies: readonly string[]): IsTrusted {
  return proxyAddress.compile([...proxies]);
}

/** Returns the address that a request came from. */
export type AddressOf = (request: IncomingMessage) => string;

/**
 * Returns a reader of clients' addresses. It reads `X-Forwarded-For` from the right, for as long as a proxy in
 * `trusted` wrote the entry, and skips entries that are not addresses. Unwraps IPv4 addresses mapped to IPv6.
 */
export function addressReader(trusted: readonly string[]): AddressOf {
  const isTrusted = compileTrust(trusted);
  return (request) => {
    const hops = proxyAddress.all(request, isTrusted);
    return unwrapIpv4(hops.findLast((hop) => isIP(hop) !== 0) ?? '');
  };
}

export function unwrapIpv4(address: string): string {
  return address.replace(MAPPED_PREFIX, '');
}

/** The prefix of IPv4-mapped IPv6 (RFC 4291, 2.5.5.2), as sockets report it. */
const MAPPED_PREFIX = /^::ffff:(?=[\d.]+$)/i;
