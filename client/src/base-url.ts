/**
 * Removes trailing slashes. In a browser, `baseUrl` may be relative. Throws a `TypeError` for anything but an HTTP or
 * HTTPS address without user, password, query and fragment.
 */
export function baseOf(baseUrl: string | URL | undefined): string {
  if (baseUrl === undefined) throw new TypeError('baseUrl: it is not set');
  const page = (globalThis as { location?: { href: string } }).location?.href;
  const url = parseUrl(baseUrl, page);
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new TypeError(`baseUrl: not an http or https address; is "https://" missing?`);
  if (url.username || url.password || url.search || url.hash)
    throw new TypeError('baseUrl: an address has no user, password, query or fragment here');
  return url.href.replace(/\/+$/, '');
}

function parseUrl(url: string | URL, base: string | undefined): URL | undefined {
  try {
    return new URL(url, base);
  } catch {
    return undefined;
  }
}
