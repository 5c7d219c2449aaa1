import type { Faults } from '../../shared/domain/faults.ts';
import { past } from '../../shared/domain/memory-rows.ts';

/** The body of a job with its `since` in UTC, so that the same moment is the same request however it was written. */
export function withSince<Body extends { since?: string | undefined }>(
  { since, ...body }: Body,
  faults: Faults,
): Omit<Body, 'since'> & { since?: string } {
  if (since === undefined) return body;
  return { ...body, since: past(since, Date.now(), faults.in('since')).toISOString() };
}
