import { Readable } from 'node:stream';
import { isTransient } from '../../shared/db/faults.ts';
import type { Log } from '../../shared/log.ts';
import type { JobReceipt, JobResponse } from '../../shared/schemas/jobs.ts';
import { rejectOnAbort } from '../../shared/timing/within.ts';
import { toAppError } from '../http/errors.ts';

const COMMENT = ':\n\n';
const QUIET_MS = 10_000;
/** Default deadline of the longest jobs. */
const PATIENCE_MS = 120_000;

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
  /** Time without an event after which a comment is sent: proxies on the way take a silent connection for dead. */
  quietMs: number;
  /** Time without a successful poll after which the stream ends, if the database is the cause. */
  patienceMs: number;
  log: Log;
}

/** Returns the limits of streams whose connections are cut off when nothing is written to them for `sendTimeoutMs`. */
export function streamLimits(sendTimeoutMs: number): Pick<StreamSteps, 'quietMs' | 'patienceMs'> {
  return { quietMs: Math.min(QUIET_MS, sendTimeoutMs / 3), patienceMs: PATIENCE_MS };
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
  { receipt, lastEventId, poll, pause, quietMs, patienceMs }: StreamSteps,
  gone: AbortSignal,
): AsyncGenerator<string> {
  const shownParts = new Set(partsOfEventId(lastEventId));
  yield eventOf('job', receipt, eventIdOf(shownParts));
  let lastProgress = '';
  let sentAt = performance.now();
  let readAt = sentAt;
  while (!gone.aborted) {
    const news = await poll(shownParts).catch((error: unknown) => {
      // A later poll may succeed.
      if (!isTransient(error) || performance.now() - readAt > patienceMs) throw error;
    });
    if (news) readAt = performance.now();
    const { progress, result = null, error = null } = news?.job ?? {};
    const events: string[] = [];
    const progressText = progress ? JSON.stringify(progress) : lastProgress;
    if (progress && progressText !== lastProgress) events.push(eventOf('progress', progress));
    lastProgress = progressText;
    for (const item of news?.items ?? []) {
      shownParts.add(item.index);
      events.push(eventOf('result', item, eventIdOf(shownParts)));
    }
    if (result !== null) events.push(eventOf('done', result));
    if (error !== null) events.push(eventOf('error', { detail: error }));
    if (events.length === 0 && performance.now() - sentAt > quietMs) events.push(COMMENT);
    if (events.length > 0) sentAt = performance.now();
    yield* events;
    if (result !== null || error !== null) return;
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

/** Decodes a set of up to 100 parts. An id of another form names none. */
function partsOfEventId(id: string | undefined): number[] {
  if (id === undefined || !/^[0-9a-f]{1,25}$/.test(id)) return [];
  const bits = BigInt(`0x${id}`);
  return Array.from({ length: id.length * 4 }, (_, part) => part).filter(
    (part) => (bits >> BigInt(part)) & 1n,
  );
}
