import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import proxyAddress from 'proxy-addr';

/** True if an address is a trusted proxy's. The second argument is the number of hops before it. */
export type IsTrusted = ReturnType<typeof proxyAddress.compile>;

export function trustOf(proxies: readonly string[]): IsTrusted {
  return proxyAddress.compile([...proxies]);
}

/** The address that a request came from: `addressOf(request)`. */
export type AddressOf = (request: IncomingMessage) => string;

/**
 * Makes the reader of clients' addresses. Reads `X-Forwarded-For` from the right for as long as the hop that wrote an
 * entry is one of `trusted`, skipping entries that are not addresses. Mapped IPv4 addresses are unwrapped.
 */
export function addressReader(trusted: readonly string[]): AddressOf {
  const isTrusted = trustOf(trusted);
  return (request) => {
    const hops = proxyAddress.all(request, isTrusted);
    return unmapped(hops.findLast((hop) => isIP(hop) !== 0) ?? '');
  };
}

export function unmapped(address: string): string {
  return address.replace(MAPPED, '');
}

/** The prefix of IPv4-mapped IPv6 (RFC 4291, 2.5.5.2), as sockets report it. */
const MAPPED = /^::ffff:(?=[\d.]+$)/i;
