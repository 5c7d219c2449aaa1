import type { IncomingMessage } from 'node:http';
import { isIP, isIPv6 } from 'node:net';
import proxyAddress from 'proxy-addr';

/** Checks whether an address is a trusted proxy. The second argument is its distance in hops, 0 for the nearest. */
export type IsTrusted = ReturnType<typeof proxyAddress.compile>;

export function compileTrust(proxies: readonly string[]): IsTrusted {
  return proxyAddress.compile([...proxies]);
}

export type AddressOf = (request: IncomingMessage) => string;

/**
 * Returns the function that finds a client's address. It reads `X-Forwarded-For` from the right, as far as `trusted`
 * proxies wrote it, skips entries that are not addresses, and turns IPv4-mapped IPv6 into IPv4.
 */
export function addressReader(trusted: readonly string[]): AddressOf {
  const isTrusted = compileTrust(trusted);
  return ({ headers, socket }) => {
    const forwarded = String(headers['x-forwarded-for'] ?? '').replace(PORTS, '$1$2');
    const request = { headers: { 'x-forwarded-for': forwarded }, socket } as unknown as IncomingMessage;
    const hops = proxyAddress.all(request, isTrusted);
    return unwrapIpv4(hops.findLast((hop) => isIP(hop) !== 0) ?? '');
  };
}

/** Matches an IPv4 address with a port, or an IPv6 one in brackets, as some gateways write them. */
const PORTS = /(\d{1,3}(?:\.\d{1,3}){3}):\d+|\[([\da-f:.]{1,45})\](?::\d+)?/gi;

export function unwrapIpv4(address: string): string {
  return address.replace(MAPPED_PREFIX, '');
}

/** The prefix of IPv4-mapped IPv6 (RFC 4291, 2.5.5.2), as sockets report it. */
const MAPPED_PREFIX = /^::ffff:(?=[\d.]+$)/i;

const IPV6_GROUPS = 8;
const NETWORK_GROUPS = 4;

/** Returns an IPv4 address itself, or the /64 of an IPv6 address, which is usually one household. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = [], tail = []] = canonical(address)
    .split('::')
    .map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array(IPV6_GROUPS - head.length - tail.length).fill('0');
  return `${[...head, ...zeros, ...tail].slice(0, NETWORK_GROUPS).join(':')}::/64`;
}

/** Normalises IPv6: lower case, the longest run of zeros as `::`, no IPv4 notation, no zone. */
function canonical(address: string): string {
  return new URL(`http://[${address.replace(/%.*$/, '')}]`).hostname.slice(1, -1);
}
