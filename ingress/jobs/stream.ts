import { Readable } from 'node:stream';
import { isTransient } from '../../shared/db/faults.ts';
import type { Log } from '../../shared/log.ts';
import type { JobReceipt, JobResponse } from '../../shared/schemas/jobs.ts';
import { rejectOnAbort } from '../../shared/timing/within.ts';
import { toAppError } from '../http/errors.ts';

/**
 * Number of polls without a `progress` event after which a comment is sent: proxies on the way take a silent connection
 * for dead.
 */
const QUIET_POLLS = 20;
const COMMENT = ':\n\n';
/**
 * Maximum number of consecutive polls that fail because of the database. If each fails at once they take two minutes,
 * the default deadline of the longest jobs.
 */
const FAILED_POLLS_MAX = 240;

/** A part of a job's result that is ready before the rest. */
export interface JobItem {
  index: number;
}

/** The state of a job, for its stream. */
export interface JobNews {
  job: Pick<JobResponse, 'progress' | 'result' | 'error'>;
  /** Parts of the result that are ready and were not shown before. */
  items: JobItem[];
}

export interface StreamSteps {
  receipt: JobReceipt;
  /** The `Last-Event-ID` after which a cut stream goes on. */
  lastEventId?: string | undefined;
  poll(shown: ReadonlySet<number>): Promise<JobNews>;
  /** Waits until the next poll. */
  pause(): Promise<void>;
  log: Log;
}

/**
 * Streams a job as server-sent events (HTML Living Standard, 9.2): `job` with its address, `progress` whenever that has
 * changed, `result` for each part as it becomes ready, then `done` with the whole result, or `error`. Ends early when
 * the caller is gone; the job runs on. An event's id names the parts shown so far, so that any ingress can go on from
 * there.
 */
export function streamJob(steps: StreamSteps, gone: AbortSignal): Readable {
  return Readable.from(withErrors(eventsOf(steps, gone), steps.log, gone), { objectMode: false });
}

/** Sends an error as an event, since the stream has begun: when the job's account was erased, for example. */
async function* withErrors(
  events: AsyncIterable<string>,
  log: Log,
  gone: AbortSignal,
): AsyncGenerator<string> {
  try {
    yield* events;
  } catch (error) {
    if (gone.aborted) return;
    const { code, explanation } = toAppError({ state: { log, signal: gone } }, error);
    yield eventOf('error', { detail: { code, message: explanation } });
  }
}

async function* eventsOf(
  { receipt, lastEventId, poll, pause }: StreamSteps,
  gone: AbortSignal,
): AsyncGenerator<string> {
  const shown = new Set(partsOfEventId(lastEventId));
  yield eventOf('job', receipt, eventIdOf(shown));
  let lastProgress = '';
  let quiet = 0;
  let failed = 0;
  while (!gone.aborted) {
    const news = await poll(shown).catch((error: unknown) => {
      // A later poll may succeed.
      if (!isTransient(error) || failed === FAILED_POLLS_MAX) throw error;
    });
    failed = news ? 0 : failed + 1;
    const { progress, result = null, error = null } = news?.job ?? {};
    const now = progress ? JSON.stringify(progress) : lastProgress;
    quiet += 1;
    if (progress && now !== lastProgress) yield eventOf('progress', progress);
    else if (quiet === QUIET_POLLS) yield COMMENT;
    if (now !== lastProgress || quiet === QUIET_POLLS) quiet = 0;
    lastProgress = now;
    for (const item of news?.items ?? []) {
      shown.add(item.index);
      yield eventOf('result', item, eventIdOf(shown));
    }
    if (result !== null) return yield eventOf('done', result);
    if (error !== null) return yield eventOf('error', { detail: error });
    await rejectOnAbort(gone, pause()).catch(() => {});
  }
}

function eventOf(name: string, data: object, id?: string): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n${id === undefined ? '' : `id: ${id}\n`}\n`;
}

/** Encodes a set of parts as the bits of a hexadecimal number. */
function eventIdOf(parts: ReadonlySet<number>): string {
  return [...parts].reduce((bits, part) => bits | (1n << BigInt(part)), 0n).toString(16);
}

/** Decodes a set of up to 100 parts. An id that we did not send names none. */
function partsOfEventId(id: string | undefined): number[] {
  if (id === undefined || !/^[0-9a-f]{1,25}$/.test(id)) return [];
  const bits = BigInt(`0x${id}`);
  return Array.from({ length: id.length * 4 }, (_, part) => part).filter(
    (part) => (bits >> BigInt(part)) & 1n,
  );
}
