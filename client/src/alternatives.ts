/** A member of a list of Display Strings (RFC 9651), whose bytes other than printable ASCII are escaped. */
const DISPLAY_STRING = /%"((?:[^"%]|%[0-9a-f]{2})*)"/g;

/** Reads the header `Forecue-Alternatives`. What cannot be read is left out. */
export function alternativesIn(headers: Headers): string[] {
  const members = headers.get('forecue-alternatives')?.matchAll(DISPLAY_STRING) ?? [];
  return [...members].flatMap(([, escaped = '']) => {
    try {
      return [decodeURIComponent(escaped)];
    } catch {
      return [];
    }
  });
}
