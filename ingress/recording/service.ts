import type { EntityManager } from '@mikro-orm/postgresql';
import {
  type Cursor,
  type EventRow,
  findEvent,
  findSession,
  pageOfEvents,
  readBody,
} from '../../shared/db/stores/recording/read.ts';
import type { RecordResult } from '../../shared/db/stores/recording/record.ts';
import {
  type CheckedBatch,
  checkBatch,
  type RecordedEvent,
  receiptOf,
  sessionAnswer,
  storedEventJson,
} from '../../shared/domain/recording.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import { MIB } from '../../shared/schemas/limits.ts';
import type { RecordingReceipt, SessionEventsQuery } from '../../shared/schemas/recording.ts';
import { ConcurrencyLimiter } from '../../shared/timing/concurrency-limiter.ts';
import { type ReserveAnswerMemory, UNCOUNTED_BYTES } from '../guards/budgets.ts';

interface RecordingParts {
  em: () => EntityManager;
  recordBatch(accountId: string, events: readonly RecordedEvent[], gone: AbortSignal): Promise<RecordResult>;
}

interface Reader {
  reserve: ReserveAnswerMemory;
  /** Aborted when the caller disconnects. */
  signal: AbortSignal;
}

/** Maximum bytes of a page's events, since `limit` counts events of any size. A larger event is alone on its page. */
const PAGE_BYTES_MAX = 4 * MIB;

export class RecordingService {
  readonly #parts: RecordingParts;
  /** Accounts take turns, because checking a batch occupies the thread. */
  readonly #checkLimiter = new ConcurrencyLimiter({ capacity: 1 });
  /** Reading a large event takes a connection for long, and several times the event's size in memory. */
  readonly #largeReadLimiter = new ConcurrencyLimiter({ capacity: 2 });

  constructor(parts: RecordingParts) {
    this.#parts = parts;
  }

  /**
   * Stores the valid rows of a batch. Throws `overloaded`, `quota_exceeded` (then no row is stored), or
   * `not_authenticated` when the account is gone. Not async, so that `rows` can be garbage-collected after the check.
   */
  record(accountId: string, rows: readonly unknown[], gone: AbortSignal): Promise<RecordingReceipt> {
    return this.#checkLimiter
      .run(() => checkBatch(rows, Date.now()), { party: accountId, gone })
      .then((batch) => this.#store(accountId, batch, gone));
  }

  async #store(accountId: string, batch: CheckedBatch, gone: AbortSignal): Promise<RecordingReceipt> {
    const { events } = batch;
    const result =
      events.length > 0
        ? await this.#parts.recordBatch(accountId, events, gone)
        : { accepted: 0, foreign: [] };
    return receiptOf(batch, result);
  }

  /** Returns JSON. Throws `not_found`, and `overloaded` when there is no memory for a large event. */
  async readEvent(accountId: string, id: string, reader: Reader): Promise<string> {
    const event = await findEvent(this.#parts.em(), accountId, id, UNCOUNTED_BYTES);
    const json = event && (await this.render(accountId, event, reader));
    if (json === undefined) throw new AppError('not_found');
    return json;
  }

  /**
   * Returns JSON; undefined if a large event, whose body is not in the row, was erased meanwhile. Reads such a body
   * once there is memory for it. Throws `overloaded` if there is none, or if the caller leaves before its turn, because
   * its memory is free then.
   */
  async render(
    accountId: string,
    { id, size, body, receivedAt }: EventRow,
    { reserve, signal }: Reader,
  ): Promise<string | undefined> {
    if (body !== undefined) return storedEventJson({ body, receivedAt });
    await reserve(size);
    const read = () => readBody(this.#parts.em(), accountId, id);
    const storedBody = await this.#largeReadLimiter.run(read, { party: accountId, gone: signal });
    return storedBody === undefined ? undefined : storedEventJson({ body: storedBody, receivedAt });
  }

  /** Returns JSON: a session and a page of its events, without those erased meanwhile. Throws as `readEvent`. */
  async readSession(
    accountId: string,
    id: string,
    { limit, after }: SessionEventsQuery,
    reader: Reader,
  ): Promise<string> {
    const { em } = this.#parts;
    const session = await findSession(em(), accountId, id);
    if (session === undefined) throw new AppError('not_found');
    await reader.reserve(PAGE_BYTES_MAX);
    const { events, next } = await pageOfEvents(em(), session, {
      limit,
      sizeMax: PAGE_BYTES_MAX,
      after: after === undefined ? undefined : cursorOf(after),
    });
    const renderedEvents = await Promise.all(events.map((event) => this.render(accountId, event, reader)));
    const renderedSession = JSON.stringify(sessionAnswer(session));
    const token = JSON.stringify(next && tokenOf(next));
    const results = renderedEvents.filter((json) => json !== undefined).join();
    return `{"session":${renderedSession},"results":[${results}],"next":${token}}`;
  }
}

function tokenOf({ occurredMs, arrival }: Cursor): string {
  return `${occurredMs}-${arrival}`;
}

function cursorOf(token: string): Cursor {
  const [occurredMs = 0, arrival = 0] = token.split('-').map(Number);
  return { occurredMs, arrival };
}
