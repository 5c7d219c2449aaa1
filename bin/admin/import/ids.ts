import { createHash } from 'node:crypto';
import { masked } from '../../../shared/domain/secrets.ts';

/** A short fingerprint of a text. Of its masked form, so that no id depends on a secret. */
export function digest(text: string): string {
  return createHash('sha256').update(masked(text)).digest('base64url').slice(0, 22);
}

/**
 * Ids for words that have none in their transcript: a fingerprint, and which occurrence of the same words it is. A line
 * that was broken once, and is whole the next time, shifts no other's id.
 */
export class WordIds {
  readonly #occurrences = new Map<string, number>();

  next(scope: string, kind: string, text: string): string {
    const id = `${scope}:${digest(`${kind}\n${text}`)}`;
    const occurrence = (this.#occurrences.get(id) ?? 0) + 1;
    this.#occurrences.set(id, occurrence);
    return occurrence === 1 ? id : `${id}:${occurrence}`;
  }
}
