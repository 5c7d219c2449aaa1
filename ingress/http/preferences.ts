import type { IncomingHttpHeaders } from 'node:http';

/** True if a `Prefer` header (RFC 7240) names the preference, with a value or without. */
export function prefers({ prefer }: IncomingHttpHeaders, preference: string): boolean {
  return isListed(prefer, preference);
}

/** True if an `Accept` header (RFC 9110, 12.5.1) names the media type itself, not only by a wildcard. */
export function accepts({ accept }: IncomingHttpHeaders, mediaType: string): boolean {
  return isListed(accept, mediaType);
}

function isListed(header: string | string[] | undefined, wanted: string): boolean {
  const items = String(header ?? '').split(',');
  return items.some((item) => item.split(/[;=]/)[0]?.trim().toLowerCase() === wanted);
}
