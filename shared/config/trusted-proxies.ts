import { isIP } from 'node:net';

/** Networks that `proxy-addr` knows by name: loopback, link-local and private addresses. */
const NAMES = ['loopback', 'linklocal', 'uniquelocal'];
const BITS: Record<number, number> = { 4: 32, 6: 128 };

/** Parses `TRUST_PROXY`: addresses, networks (`10.0.0.0/8`) and names, comma separated. Undefined when any is invalid. */
export function parseTrustedProxies(value: string): string[] | undefined {
  const proxies = value.split(',').map((proxy) => proxy.trim());
  return proxies.every((proxy) => NAMES.includes(proxy) || isNetwork(proxy)) ? proxies : undefined;
}

/** A /0 would trust the whole Internet. */
function isNetwork(text: string): boolean {
  const [, address = '', prefix = '1'] = text.match(/^([\da-fA-F.:]+)(?:\/(\d{1,3}))?$/) ?? [];
  const most = BITS[isIP(address)];
  return most !== undefined && Number(prefix) >= 1 && Number(prefix) <= most;
}
