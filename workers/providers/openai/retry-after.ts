import { LONGEST_PAUSE_MS } from '../provider.ts';

const NUMBER = /^\d+(\.\d+)?$/;
/** The current form of HTTP and one obsolete one (RFC 9110, 5.6.7). `Date.parse` alone makes a date of almost anything. */
const HTTP_DATE = /^[A-Z][a-z]{2,8}, [\w :-]{18,24} GMT$/;

/** How long a provider asks to be left alone: `Retry-After` (RFC 9110, 10.2.3), or OpenAI's own in milliseconds. */
export function retryAfterMs(headers: Headers | undefined): number | undefined {
  const exact = headers?.get('retry-after-ms') ?? '';
  if (NUMBER.test(exact)) return bounded(Number(exact));
  const value = headers?.get('retry-after') ?? '';
  if (NUMBER.test(value)) return bounded(Number(value) * 1000);
  const moment = momentOf(value);
  if (moment === undefined) return undefined;
  // By the provider's own clock, where it tells the time.
  return bounded(moment - (momentOf(headers?.get('date') ?? '') ?? Date.now()));
}

function momentOf(date: string): number | undefined {
  const ms = HTTP_DATE.test(date) ? Date.parse(date) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

/** Undefined for a moment that has passed: it asks for nothing. */
function bounded(ms: number): number | undefined {
  return ms > 0 ? Math.min(ms, LONGEST_PAUSE_MS) : undefined;
}
