import type { PredictionResponse } from '../../shared/schemas/predictions.ts';
import { type AppClient, predictionBody, type Reply } from './client.ts';

/** `count` calls of an app at once, each of a different user. */
export function flood(
  app: AppClient,
  calls: number,
  part: object = {},
): Promise<Reply<PredictionResponse>[]> {
  const replies = Promise.all(
    Array.from({ length: calls }, (_, n) => app.predict(predictionBody({ user_id: `u-${n}`, ...part }))),
  );
  // The awaiting caller gets the rejection; a test that failed before never awaits it.
  replies.catch(() => {});
  return replies;
}

/** A call's time in the queue, from the headers of its answer; NaN without them. */
export function queueMs({ headers }: { headers: Headers }): number {
  return Number(headers.get('server-timing')?.match(/queue;dur=([\d.]+)/)?.[1]);
}

/** The number of each answer: `{ '200': 3, '503 overloaded': 1 }`. */
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

/** The slowest of the calls, in milliseconds; 0 where there are none. */
export function slowest(replies: readonly { tookMs: number }[]): number {
  return Math.round(Math.max(0, ...replies.map(({ tookMs }) => tookMs)));
}
