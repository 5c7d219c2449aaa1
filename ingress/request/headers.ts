import type { IncomingHttpHeaders } from 'node:http';
import { projectOf } from '../../shared/domain/project.ts';
import { SOURCE_DETAIL_MAX } from '../../shared/schemas/limits.ts';

/** Checks whether a `Prefer` header (RFC 7240) names the preference, with or without a value. */
export function prefers({ prefer }: IncomingHttpHeaders, preference: string): boolean {
  return isListed(prefer, preference);
}

/** Returns the number that a `Prefer` header gives a preference; 0 if it gives none. */
export function preferredNumber({ prefer }: IncomingHttpHeaders, preference: string): number {
  for (const item of itemsOf(prefer)) {
    const [name, value = ''] = item.split(';', 1)[0]?.split('=', 2) ?? [];
    if (name?.trim().toLowerCase() === preference)
      return /^\s*"?\d{1,9}"?\s*$/.test(value) ? Number(value.replaceAll('"', '')) : 0;
  }
  return 0;
}

/** Checks whether an `Accept` header (RFC 9110, 12.5.1) names the media type itself, not by a wildcard. Ignores `q`. */
export function accepts({ accept }: IncomingHttpHeaders, mediaType: string): boolean {
  return isListed(accept, mediaType);
}

function isListed(header: string | string[] | undefined, wanted: string): boolean {
  return itemsOf(header).some((item) => item.split(/[;=]/)[0]?.trim().toLowerCase() === wanted);
}

/** Splits a list (RFC 9110, 5.6.1) at its commas, except those in quoted strings, which may lack their end. */
function itemsOf(header: string | string[] | undefined): string[] {
  return String(header ?? '').match(/(?:"(?:\\.?|[^"\\])*(?:"|$)|[^,])+/g) ?? [];
}

/** Returns the project that the header `Forecue-Project` names; undefined if there is none. */
export function requestedProject({ 'forecue-project': value }: IncomingHttpHeaders): string | undefined {
  return value === undefined
    ? undefined
    : (projectOf(decode(String(value)).slice(0, SOURCE_DETAIL_MAX)) ?? undefined);
}

function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** Returns the share that the header `Forecue-Retained` states; null if it states none from 0 to 1. */
export function requestedShare({ 'forecue-retained': value }: IncomingHttpHeaders): number | null {
  return /^(?:0(?:\.\d{1,3})?|1(?:\.0{1,3})?)$/.test(String(value)) ? Number(value) : null;
}
