import { Readable } from 'node:stream';
import { AppError } from '../../shared/errors/app-error.ts';
import { rejectionOf } from '../../shared/rejection.ts';
import type { JobResponse } from '../../shared/schemas/jobs.ts';

/** After so many looks without an event the stream has a comment: a silent connection counts as dead on its way. */
const QUIET_LOOKS = 20;
const COMMENT = ':\n\n';

/** A part of a job's result that is ready before the rest. */
export interface JobItem {
  index: number;
}

/** What a stream sees of its job. */
export interface JobNews {
  job: Pick<JobResponse, 'progress' | 'result' | 'error'>;
  /** The parts of the result that are ready, but for those that were shown before. */
  items: JobItem[];
}

export interface StreamSteps {
  look(shown: ReadonlySet<number>): Promise<JobNews>;
  /** Waits for the next look. */
  pause(): Promise<void>;
}

/**
 * A job as server-sent events (HTML Living Standard, 9.2): `progress` whenever it has come on, `result` for each part that
 * is ready, then `done` with the whole result, or `error`. Ends early when the caller is gone; the job runs on.
 */
export function streamJob(steps: StreamSteps, gone: AbortSignal): Readable {
  return Readable.from(withErrors(eventsOf(steps, gone)), { objectMode: false });
}

/** An error of a stream that has begun is an event: of a job whose account was erased, for example. */
async function* withErrors(events: AsyncIterable<string>): AsyncGenerator<string> {
  try {
    yield* events;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    yield eventOf('error', { detail: { code: error.code, message: error.explanation } });
  }
}

async function* eventsOf({ look, pause }: StreamSteps, gone: AbortSignal): AsyncGenerator<string> {
  const left = rejectionOf(gone);
  left.catch(() => {});
  const ready = new Set<number>();
  let shown = '';
  let quiet = 0;
  while (!gone.aborted) {
    const { job, items } = await look(ready);
    const { progress, result, error } = job;
    const now = JSON.stringify(progress);
    quiet += 1;
    if (now !== shown) yield eventOf('progress', progress);
    else if (quiet === QUIET_LOOKS) yield COMMENT;
    if (now !== shown || quiet === QUIET_LOOKS) quiet = 0;
    shown = now;
    for (const item of items) {
      ready.add(item.index);
      yield eventOf('result', item);
    }
    if (result !== null) return yield eventOf('done', result);
    if (error !== null) return yield eventOf('error', { detail: error });
    await Promise.race([pause(), left]).catch(() => {});
  }
}

function eventOf(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
