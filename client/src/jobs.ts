import { errorOfEvent, ForecueError } from './errors.ts';
import { eventsIn, type ServerSentEvent } from './event-stream.ts';
import type { ApiJobs } from './generated/api.ts';
import type { BatchResponse } from './generated/schemas.ts';
import { pauseOf } from './retry.ts';
import { sleep } from './transport.ts';

export type JobName = keyof ApiJobs;

/** Events of a job: `job` comes first, `done` last. A failure is thrown. */
export type JobEvent<Result> =
  | { type: 'job'; job_id: string; status_url: string }
  | { type: 'progress'; done: number; total: number }
  /** One prediction of a batch. */
  | { type: 'result'; item: BatchResponse['results'][number] }
  | { type: 'done'; result: Result };

export interface StreamPosition {
  jobId: string | undefined;
  lastEventId: string | undefined;
}

/** Maximum number of reconnections in a row that bring no event but `job`. */
const CUTS_IN_A_ROW_MAX = 6;
/** Codes with which a stream may end while its job still runs. */
const TRANSIENT_CODES: readonly string[] = ['overloaded', 'service_unavailable'];

/** Yields each event once, but may repeat `progress` after a cut. Without a job id, `open` starts or joins the job. */
export async function* follow<Result>(
  open: (position: StreamPosition) => Promise<Response>,
  position: StreamPosition,
  signal: AbortSignal | undefined,
): AsyncGenerator<JobEvent<Result>> {
  for (let cuts = 0; ; cuts += 1) {
    let cause: unknown;
    try {
      for await (const event of eventsIn(await open(position))) {
        const isRepeated = event.name === 'job' && position.jobId !== undefined;
        const jobEvent = jobEventOf<Result>(event);
        position.lastEventId = event.id ?? position.lastEventId;
        if (jobEvent === undefined || isRepeated) continue;
        if (jobEvent.type === 'job') position.jobId = jobEvent.job_id;
        cuts = 0;
        yield jobEvent;
        if (jobEvent.type === 'done') return;
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof ForecueError && !(error.status === 200 && TRANSIENT_CODES.includes(error.code)))
        throw error;
      cause = error;
    }
    if (cuts >= CUTS_IN_A_ROW_MAX)
      throw new ForecueError('network_error', { message: 'the stream was cut', cause });
    await sleep(pauseOf(cuts), signal);
  }
}

/** Returns undefined for an unknown event, which a newer server may send. Throws the error of an `error` event. */
function jobEventOf<Result>({ name, data }: ServerSentEvent): JobEvent<Result> | undefined {
  const content = JSON.parse(data);
  switch (name) {
    case 'job':
    case 'progress':
      return { type: name, ...content };
    case 'result':
      return { type: name, item: content };
    case 'done':
      return { type: name, result: content };
    case 'error':
      throw errorOfEvent(content);
    default:
      return undefined;
  }
}
