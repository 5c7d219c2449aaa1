import type { IncomingHttpHeaders } from 'node:http';

/** True if a `Prefer` header (RFC 7240) names the preference, with a value or without. */
export function prefers({ prefer }: IncomingHttpHeaders, preference: string): boolean {
  return names(prefer, preference);
}

/** True if an `Accept` header (RFC 9110, 12.5.1) names the media type itself, not only by a wildcard. */
export function accepts({ accept }: IncomingHttpHeaders, mediaType: string): boolean {
  return names(accept, mediaType);
}

function names(header: string | string[] | undefined, wanted: string): boolean {
  const listed = String(header ?? '').split(',');
  return listed.some((one) => one.split(/[;=]/)[0]?.trim().toLowerCase() === wanted);
}
