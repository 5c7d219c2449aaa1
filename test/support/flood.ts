import type { PredictionResponse } from '../../shared/schemas/predictions.ts';
import { type AppClient, predictionBody, type Reply } from './client.ts';
import { percentile } from './keep-alive-client.ts';
import { pluck } from './pluck.ts';

export function flood(
  app: AppClient,
  calls: number,
  part: object = {},
): Promise<Reply<PredictionResponse>[]> {
  const replies = Promise.all(
    Array.from({ length: calls }, (_, n) => app.predict(predictionBody({ user_id: `u-${n}`, ...part }))),
  );
  // A test that fails before it awaits the replies must not cause an unhandled rejection too.
  replies.catch(() => {});
  return replies;
}

/** Returns a call's time in the queue, from its answer's headers; NaN without them. */
export function queueMs({ headers }: { headers: Headers }): number {
  return Number(headers.get('server-timing')?.match(/queue;dur=([\d.]+)/)?.[1]);
}

/** Counts the answers by status and code: `{ '200': 3, '503 overloaded': 1 }`. */
export function tally(replies: readonly EndedCall[]): Record<string, number> {
  const ends = Map.groupBy(replies, endOf);
  return Object.fromEntries([...ends].map(([end, of]) => [end, of.length]));
}

interface EndedCall {
  status: number;
  code: string | undefined;
}

export function endOf({ status, code }: EndedCall): string {
  return code === undefined ? `${status}` : `${status} ${code}`;
}

export function p95(replies: readonly { tookMs: number }[]): number {
  return percentile(pluck(replies, 'tookMs'), 0.95);
}

export function slowest(replies: readonly { tookMs: number }[]): number {
  return Math.round(Math.max(0, ...pluck(replies, 'tookMs')));
}
