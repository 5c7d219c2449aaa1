const REDIRECT_URI_CHARS_MAX = 2048;

/**
 * Says what a redirect URI of an app should be, if it is not; it is kept unchanged, to be compared character by
 * character.
 */
export function redirectUriFault(value: string): string | undefined {
  // Printable ASCII only: `URL` would accept more, but a Location header does not.
  if (!/^https?:\/\/[!-~]+$/i.test(value) || !URL.canParse(value)) return 'a URL that starts with https://';
  if (value.length > REDIRECT_URI_CHARS_MAX) return `at most ${REDIRECT_URI_CHARS_MAX} characters long`;
  if (value.includes('#')) return 'without a fragment (#…)';
  const { protocol, hostname } = new URL(value);
  if (protocol === 'http:' && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname))
    return 'https, except on localhost, 127.0.0.1 and [::1]';
  return undefined;
}
