import type { IncomingMessage } from 'node:http';
import { isIP, isIPv6 } from 'node:net';
import proxyAddress from 'proxy-addr';

/** The address that a request came from: `addressOf(request)`. */
export type AddressOf = (request: IncomingMessage) => string;

/**
 * Makes the reader of clients' addresses. `X-Forwarded-For` is believed from the right, as long as the hop that wrote
 * it is one of `trusted`; what is no address at all is passed over. IPv4 is IPv4, also where the socket speaks IPv6.
 */
export function addressReader(trusted: readonly string[]): AddressOf {
  const isTrusted = proxyAddress.compile([...trusted]);
  return (request) => {
    const hops = proxyAddress.all(request, isTrusted);
    return hops.findLast((hop) => isIP(hop) !== 0)?.replace(MAPPED, '') ?? '';
  };
}

/** IPv4 inside IPv6 (RFC 4291, 2.5.5.2), as sockets write it. */
const MAPPED = /^::ffff:(?=[\d.]+$)/i;

const GROUPS = 8;
const NETWORK_GROUPS = 4;

/**
 * Whom an address stands for where callers are counted: of IPv6 the /64, which one household has all of; IPv4 as it is.
 */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = [], tail = []] = canonical(address)
    .split('::')
    .map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array(GROUPS - head.length - tail.length).fill('0');
  return `${[...head, ...zeros, ...tail].slice(0, NETWORK_GROUPS).join(':')}::/64`;
}

/** Lower case, the longest run of zeros as `::`, no IPv4 notation, no zone. */
function canonical(address: string): string {
  return new URL(`http://[${address.replace(/%.*$/, '')}]`).hostname.slice(1, -1);
}
