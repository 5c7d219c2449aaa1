import type { PredictionResponse } from '../../shared/schemas/predictions.ts';
import { predictionBody, type Reply } from './client.ts';

type Body = ReturnType<typeof predictionBody>;

/** One call that has ended, whatever its answer. Times are those of `performance.now()`. */
export interface Call {
  body: Body;
  reply: Reply<PredictionResponse>;
  startedAt: number;
  endedAt: number;
}

export interface Load {
  /** What has ended so far, in the order of its end. */
  readonly calls: readonly Call[];
  /** Resolves when every caller is done; rejects when one got no answer at all. */
  readonly done: Promise<void>;
  /** Lets calls in flight end, and starts no more. */
  stop(): Promise<readonly Call[]>;
}

/** Callers that send a new request as soon as they have an answer, until stopped or after `most` requests. */
export function startLoad(
  ask: (body: Body) => Promise<Reply<PredictionResponse>>,
  { callers, most = Number.POSITIVE_INFINITY }: { callers: number; most?: number },
): Load {
  const calls: Call[] = [];
  let left = most;
  async function caller(): Promise<void> {
    while (left > 0) {
      left -= 1;
      const body = predictionBody();
      const startedAt = performance.now();
      const reply = await ask(body);
      calls.push({ body, reply, startedAt, endedAt: performance.now() });
    }
  }
  const done = Promise.all(Array.from({ length: callers }, caller)).then(() => {});
  // It is awaited later; until then a rejection is not unhandled.
  done.catch(() => {});
  return {
    calls,
    done,
    async stop() {
      left = 0;
      await done;
      return calls;
    },
  };
}
