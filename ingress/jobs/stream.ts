import { Readable } from 'node:stream';
import { isTransient } from '../../shared/db/faults.ts';
import type { Log } from '../../shared/log.ts';
import type { JobReceipt, JobResponse } from '../../shared/schemas/jobs.ts';
import { rejectOnAbort } from '../../shared/timing/within.ts';
import { toAppError } from '../request/errors.ts';

export const KEEP_ALIVE_COMMENT = ':\n\n';
/** Time without an event after which a comment is sent, because proxies close silent connections. */
const KEEP_ALIVE_MS = 10_000;

/** Interval of comments on a stream, which must also be shorter than the time after which a silent one is cut off. */
export const keepAliveMsOf = (sendTimeoutMs: number) => Math.min(KEEP_ALIVE_MS, sendTimeoutMs / 3);
/** Time after which a stream ends if the database is unreachable: the default deadline of the longest jobs. */
const OUTAGE_MAX_MS = 120_000;

export interface JobItem {
  index: number;
}

export interface JobUpdate {
  job: Pick<JobResponse, 'progress' | 'result' | 'error'>;
  /** New parts of the result, ready before the rest. */
  items: JobItem[];
}

export interface StreamOptions {
  receipt: JobReceipt;
  /** The `Last-Event-ID` after which an interrupted stream goes on. */
  lastEventId?: string | undefined;
  poll(shown: ReadonlySet<number>): Promise<JobUpdate>;
  pause(): Promise<void>;
  /** Time after which a connection to which nothing is written is cut off. */
  sendTimeoutMs: number;
  log: Log;
}

/**
 * Streams server-sent events (HTML Living Standard, 9.2): `job`, then `progress` after each change, `result` for each
 * part, and at the end `done` with the whole result, or `error`. An event's id names the parts sent so far, so that
 * another ingress can continue the stream.
 */
export function streamJob(options: StreamOptions, gone: AbortSignal): Readable {
  return Readable.from(withErrors(eventsOf(options, gone), options.log, gone), { objectMode: false });
}

/** Sends an error as an event, because the stream has begun. */
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
  { receipt, lastEventId, poll, pause, sendTimeoutMs }: StreamOptions,
  gone: AbortSignal,
): AsyncGenerator<string> {
  const shownParts = new Set(partsOfEventId(lastEventId));
  const keepAliveMs = keepAliveMsOf(sendTimeoutMs);
  yield eventOf('job', receipt, eventIdOf(shownParts));
  let lastProgress = '';
  let sentAt = performance.now();
  let readAt = sentAt;
  while (!gone.aborted) {
    const update = await poll(shownParts).catch((error: unknown) => {
      // Ignores a failed poll during a short outage of the database.
      if (!isTransient(error) || performance.now() - readAt > OUTAGE_MAX_MS) throw error;
    });
    if (update) readAt = performance.now();
    const { progress, result = null, error = null } = update?.job ?? {};
    const events: string[] = [];
    const progressText = progress ? JSON.stringify(progress) : lastProgress;
    if (progress && progressText !== lastProgress) events.push(eventOf('progress', progress));
    lastProgress = progressText;
    for (const item of update?.items ?? []) {
      shownParts.add(item.index);
      events.push(eventOf('result', item, eventIdOf(shownParts)));
    }
    if (result !== null) events.push(eventOf('done', result));
    if (error !== null) events.push(eventOf('error', { detail: error }));
    if (events.length === 0 && performance.now() - sentAt > keepAliveMs) events.push(KEEP_ALIVE_COMMENT);
    if (events.length > 0) sentAt = performance.now();
    yield* events;
    if (result !== null || error !== null) return;
    await rejectOnAbort(gone, pause()).catch(() => {});
  }
}

export function eventOf(name: string, data: object, id?: string): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n${id === undefined ? '' : `id: ${id}\n`}\n`;
}

/** Encodes the parts as the bits of a hexadecimal number. */
function eventIdOf(parts: ReadonlySet<number>): string {
  return [...parts].reduce((bits, part) => bits | (1n << BigInt(part)), 0n).toString(16);
}

/** Decodes up to 100 parts; none from an id of another form. */
function partsOfEventId(id: string | undefined): number[] {
  if (id === undefined || !/^[0-9a-f]{1,25}$/.test(id)) return [];
  const bits = BigInt(`0x${id}`);
  return Array.from({ length: id.length * 4 }, (_, part) => part).filter(
    (part) => (bits >> BigInt(part)) & 1n,
  );
}
