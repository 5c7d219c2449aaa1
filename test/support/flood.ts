import type { PredictionResponse } from '../../shared/schemas/predictions.ts';
import { type AppClient, predictionBody, type Reply } from './client.ts';

/** Makes `calls` calls of an app at once, each for a different user. */
export function flood(
  app: AppClient,
  calls: number,
  part: object = {},
): Promise<Reply<PredictionResponse>[]> {
  const replies = Promise.all(
    Array.from({ length: calls }, (_, n) => app.predict(predictionBody({ user_id: `u-${n}`, ...part }))),
  );
  // The awaiting caller gets the rejection; a test that failed before that never awaits it.
  replies.catch(() => {});
  return replies;
}

/** Returns a call's time in the queue, from its answer's headers; NaN without them. */
export function queueMs({ headers }: { headers: Headers }): number {
  return Number(headers.get('server-timing')?.match(/queue;dur=([\d.]+)/)?.[1]);
}

/** Counts the answers by status and code: `{ '200': 3, '503 overloaded': 1 }`. */
export function tally(
  replies: readonly { status: number; code: string | undefined }[],
): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, code } of replies) {
    const answer = code === undefined ? `${status}` : `${status} ${code}`;
    counts[answer] = (counts[answer] ?? 0) + 1;
  }
  return counts;
}

/** Returns the time of the slowest call in milliseconds; 0 without calls. */
export function slowest(replies: readonly { tookMs: number }[]): number {
  return Math.round(Math.max(0, ...replies.map(({ tookMs }) => tookMs)));
}
