import { isIP } from 'node:net';

/** Networks that go by a name: those of this machine, of a link, and of private use. */
const NAMES = ['loopback', 'linklocal', 'uniquelocal'];
const BITS: Record<number, number> = { 4: 32, 6: 128 };

/** `TRUST_PROXY`: addresses, networks (`10.0.0.0/8`) and names, comma separated. Undefined when one is anything else. */
export function parseTrustedProxies(value: string): string[] | undefined {
  const proxies = value.split(',').map((proxy) => proxy.trim());
  return proxies.every((proxy) => NAMES.includes(proxy) || isNetwork(proxy)) ? proxies : undefined;
}

/** The whole Internet is no proxy: a prefix has one bit at least. */
function isNetwork(text: string): boolean {
  const [, address = '', prefix = '1'] = text.match(/^([\da-fA-F.:]+)(?:\/(\d{1,3}))?$/) ?? [];
  const most = BITS[isIP(address)];
  return most !== undefined && Number(prefix) >= 1 && Number(prefix) <= most;
}
