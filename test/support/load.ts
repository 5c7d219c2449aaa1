import type { PredictionResponse } from '../../shared/schemas/predictions.ts';
import { predictionBody, type Reply } from './client.ts';

type Body = ReturnType<typeof predictionBody>;

/** One ended call, whatever its answer. Times are those of `performance.now()`. */
export interface LoadCall {
  body: Body;
  reply: Reply<PredictionResponse>;
  startedAt: number;
  endedAt: number;
}

export interface Load {
  readonly calls: readonly LoadCall[];
  /** Resolves when every caller is done; rejects if one got no answer at all. */
  readonly done: Promise<void>;
  /** Starts no more calls, and waits for those in flight. */
  stop(): Promise<readonly LoadCall[]>;
}

/** Starts callers that call again as soon as they have an answer, until `stop` or for `most` requests. */
export function startLoad(
  ask: (body: Body) => Promise<Reply<PredictionResponse>>,
  { callers, most = Number.POSITIVE_INFINITY }: { callers: number; most?: number },
): Load {
  const calls: LoadCall[] = [];
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
  // Keeps a rejection from counting as unhandled before somebody awaits it.
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
