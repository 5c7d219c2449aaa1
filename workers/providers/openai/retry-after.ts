/** A provider that asks for more is asked again after this time: quotas are raised, and headers can be wrong. */
const LONGEST_MS = 600_000;

/** How long a provider asks to be left alone: `Retry-After` (RFC 9110, 10.2.3), or OpenAI's own in milliseconds. */
export function retryAfterMs(headers: Headers | undefined): number | undefined {
  const exact = headers?.get('retry-after-ms') ?? '';
  if (/^\d{1,9}(\.\d+)?$/.test(exact)) return bounded(Number(exact));
  const value = headers?.get('retry-after') ?? '';
  if (/^\d{1,9}(\.\d+)?$/.test(value)) return bounded(Number(value) * 1000);
  const moment = Date.parse(value);
  return Number.isNaN(moment) ? undefined : bounded(moment - Date.now());
}

/** Undefined for a moment that has passed: it asks for nothing. */
function bounded(ms: number): number | undefined {
  return ms > 0 ? Math.min(ms, LONGEST_MS) : undefined;
}
