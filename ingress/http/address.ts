import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import proxyAddress from 'proxy-addr';

/** True if an address is a trusted proxy's. The second argument is the number of hops before it. */
export type IsTrusted = ReturnType<typeof proxyAddress.compile>;

export function trustOf(proxies: readonly string[]): IsTrusted {
  return proxyAddress.compile([...proxies]);
}

/** Returns the address that a request came from. */
export type AddressOf = (request: IncomingMessage) => string;

/**
 * Returns a reader of clients' addresses. It follows `X-Forwarded-For` from the right while the hop that wrote an entry
 * is one of `trusted`, and skips entries that are not addresses. Unwraps IPv4 addresses mapped to IPv6.
 */
export function addressReader(trusted: readonly string[]): AddressOf {
  const isTrusted = trustOf(trusted);
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
