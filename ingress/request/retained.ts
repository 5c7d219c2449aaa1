import type { IncomingHttpHeaders } from 'node:http';

/** Returns the share that the header `Forecue-Retained` states; null if it states none from 0 to 1. */
export function requestedShare({ 'forecue-retained': value }: IncomingHttpHeaders): number | null {
  return /^(?:0(?:\.\d{1,3})?|1(?:\.0{1,3})?)$/.test(String(value)) ? Number(value) : null;
}
