import { replaceCodes } from './codes.ts';
import { replaceSensitive } from './sensitive.ts';

/** Texts that no completion may reveal, whatever an app's draft says. Secrets are left to `maskSecrets`. */
const UNRECALLABLE_PATTERNS: readonly RegExp[] = [
  // Links with a query or a password.
  /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s?@]{0,500}[?@]\S*/giu,
  /(?<!\S)[^\s?]{1,200}\?[^\s=]{1,100}=\S*/gu,
  // E-mail addresses and account names, but not files that an editor writes as @name.ext.
  /[^\s@<>()[\]"',;]{1,64}@[^\s@<>()[\]"',;]{1,255}/gu,
  /(?<![\p{L}\p{N}@])@[\w-]{1,64}(?![\w./-]*[./]\w)/gu,
  /\b(?:user ?name|user|login|account|handle)[ \t]{0,3}(?:is|:|=)[ \t]{0,3}\S{1,64}/giu,
  // IP and hardware addresses, coordinates, and long numbers.
  /(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])/gu,
  /(?<![\w:])(?:[\da-f]{0,4}:){2,7}[\da-f]{1,4}(?![\w:])/giu,
  /-?\d{1,3}\.\d{4,}/gu,
  /\d(?:[ .,/()-]{0,2}\d){5,}/gu,
  // Postal addresses: English; German and Dutch; French; Spanish, Portuguese and Italian; places after a postal code of
  // five digits; British postal codes
  /(?<!\w)\d{1,5}[a-z]?,? (?:[\p{L}.'’-]{1,30} ){1,4}(?:street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|court|ct|square|terrace|way)(?!\w)/giu,
  /[\p{L}-]{0,30}(?:stra(?:ß|ss)e|str\.|gasse|allee|platz|weg|damm|ufer|straat|laan) ?\d{1,4}[a-z]?(?!\w)/giu,
  /(?<!\w)\d{1,4}(?: ?(?:bis|ter))?,? (?:rue|avenue|boulevard|chemin|impasse|quai|allée)(?!\p{L})[^\n,.;]{1,60}/giu,
  /(?<!\p{L})(?:calle|avenida|avda\.?|paseo|rua|via|viale|piazza) [^\n,;\d]{2,40},? (?:n[º°.]? ?)?\d{1,4}(?!\w)/giu,
  /(?<!\w)\d{5} \p{Lu}\p{L}{2,}/gu,
  /(?<!\w)[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}(?!\w)/gu,
];

export function removeUnrecallable(text: string): string {
  const left = UNRECALLABLE_PATTERNS.reduce((rest, pattern) => rest.replace(pattern, '\n'), text);
  return replaceSensitive(replaceCodes(left, '\n'), '\n', '\n');
}

/** Tag of rows that no app may learn of. */
export const PRIVATE_TAG = 'private';
