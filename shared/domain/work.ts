import { createHash } from 'node:crypto';
import type { ErrorCode, ErrorSource } from '../errors/catalogue.ts';

/** What a waiting caller, or one that asks again, is told about a piece of work. */
export interface Outcome<Facts = unknown, Report = unknown> {
  id: string;
  /** The app or account whose work it is. */
  party: string;
  /** Of its request, among those of all parties. */
  key: string;
  /** The month that its unit belongs to; null for work that costs none. */
  month: string | null;
  /** `queued` and `running`, or how it ended. Only `failed` runs again when it is asked for once more. */
  state: string;
  code: ErrorCode | 'abandoned' | null;
  source: ErrorSource | null;
  attempt: number;
  units: 0 | 1;
  /** End of the recovery window in Unix seconds; null while it runs. */
  expiresAt: number | null;
  queueMs: number | null;
  /** What was known at its admission. */
  facts: Facts;
  /** What its handler told at its end; null when it had no say. */
  report: Report | null;
  /** Null when there is none, or it was erased. */
  answer: string | null;
}

/** How work ends. One that settles keeps its unit, all else refunds it. */
export interface End<Report = unknown> {
  state: string;
  settle?: boolean;
  code?: ErrorCode | 'abandoned';
  source?: ErrorSource;
  answer?: string;
  report?: Report;
}

/** Whether nothing will change any more, unless the request is sent again. */
export function isEnded({ state }: Pick<Outcome, 'state'>): boolean {
  return state !== 'queued' && state !== 'running';
}

/** The name of a party's request of a kind: 16 bytes of SHA-256, as a UUID. No party id has a space. */
export function requestKey(kind: string, party: string, requestId: string): string {
  const hex = createHash('sha256').update(`${kind} ${party} ${requestId}`).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    '-',
  );
}
