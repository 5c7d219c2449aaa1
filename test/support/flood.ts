import type { PredictionResponse } from '../../shared/schemas/predictions.ts';
import { type AppClient, predictionBody, type Reply } from './client.ts';

/** So many calls of an app at once, each of a user of its own. */
export function flood(
  app: AppClient,
  calls: number,
  part: object = {},
): Promise<Reply<PredictionResponse>[]> {
  const replies = Promise.all(
    Array.from({ length: calls }, (_, n) => app.predict(predictionBody({ user_id: `u-${n}`, ...part }))),
  );
  // Whoever waits for them is told; a test that failed before does not.
  replies.catch(() => {});
  return replies;
}

/** What a call waited in the queue, as the headers of its answer say; NaN where they say nothing. */
export function queueMs({ headers }: { headers: Headers }): number {
  return Number(headers.get('server-timing')?.match(/queue;dur=([\d.]+)/)?.[1]);
}

/** How many there were of each answer: `{ '200': 3, '503 overloaded': 1 }`. */
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
