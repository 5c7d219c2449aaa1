/** No language has so many combining marks in a row. */
const LONG_RUN = /\p{M}{30}(?=\p{M})/gu;
/** Combines with nothing: marks before it and after it keep their places. */
const JOINER = '\u034f';

/**
 * A text in a normal form, in linear time. To put a run of marks in order takes quadratic time, seconds for the longest texts that
 * are taken, so long runs are broken as in the Stream-Safe Text Format (Unicode Standard Annex 15, 13).
 */
export function normalForm(text: string, form: 'NFC' | 'NFKC' | 'NFKD'): string {
  return text.replaceAll(LONG_RUN, `$&${JOINER}`).normalize(form);
}
