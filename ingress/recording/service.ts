import type { EntityManager } from '@mikro-orm/postgresql';
import type { Box } from '../../shared/box.ts';
import { RecordingSession } from '../../shared/db/entities/recording.ts';
import {
  type Cursor,
  type EventRow,
  findEvent,
  pageOfEvents,
  readBodies,
} from '../../shared/db/stores/recording/read.ts';
import type { RecordResult } from '../../shared/db/stores/recording/record.ts';
import { checkBatch, type RecordedEvent, receiptOf, storedEventJson } from '../../shared/domain/recording.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import { MIB } from '../../shared/schemas/limits.ts';
import { present } from '../../shared/schemas/present.ts';
import { type RecordingReceipt, Session, type SessionEventsQuery } from '../../shared/schemas/recording.ts';
import { ConcurrencyLimiter } from '../../shared/timing/concurrency-limiter.ts';
import { type ReserveAnswerMemory, UNCOUNTED_BYTES } from '../guards/budgets.ts';
import type { Sender } from './uploads.ts';

interface RecordingParts {
  em: () => EntityManager;
  recordBatch(accountId: string, events: readonly RecordedEvent[], sender: Sender): Promise<RecordResult>;
}

interface Reader {
  reserve: ReserveAnswerMemory;
  /** Aborted when the caller disconnects. */
  signal: AbortSignal;
}

/** Maximum bytes of a page's events, since `limit` counts events of any size. */
const PAGE_BYTES_MAX = 16 * MIB;
/** Maximum bytes of a page's events that are read before its size is known. */
const FIRST_BYTES_MAX = MIB;

export class RecordingService {
  readonly #parts: RecordingParts;
  /** Accounts take turns, because checking a batch occupies the thread. */
  readonly #checkLimiter = new ConcurrencyLimiter({ capacity: 1 });
  /** Reading large events takes a connection for long, and several times their size in memory. */
  readonly #largeReadLimiter = new ConcurrencyLimiter({ capacity: 2 });

  constructor(parts: RecordingParts) {
    this.#parts = parts;
  }

  /**
   * Stores the valid rows of a batch. Throws `overloaded`, `quota_exceeded` (then no row is stored), or
   * `not_authenticated` when the account is gone.
   */
  async record(accountId: string, rows: Box<readonly unknown[]>, sender: Sender): Promise<RecordingReceipt> {
    const check = () => checkBatch(rows.take(), Date.now());
    const batch = await this.#checkLimiter.run(check, { party: accountId, gone: sender.gone });
    const { events } = batch;
    const result =
      events.length > 0
        ? await this.#parts.recordBatch(accountId, events, sender)
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
  async render(accountId: string, event: EventRow, reader: Reader): Promise<string | undefined> {
    return (await this.#renderAll(accountId, [event], reader))[0];
  }

  async #renderAll(
    accountId: string,
    events: readonly EventRow[],
    { reserve, signal }: Reader,
  ): Promise<string[]> {
    const missing = events.filter(({ body }) => body === undefined).map(({ id }) => id);
    let bodies = new Map<string, string>();
    if (missing.length > 0) {
      await reserve(events.reduce((sum, { size }) => sum + size, 0));
      const read = () => readBodies(this.#parts.em(), accountId, missing);
      bodies = await this.#largeReadLimiter.run(read, { party: accountId, gone: signal });
    }
    return events.flatMap(({ id, receivedAt, body = bodies.get(id) }) =>
      body === undefined ? [] : storedEventJson({ body, receivedAt }),
    );
  }

  /** Returns JSON of a session and a page of its events, without those erased meanwhile. Throws as `readEvent`. */
  async readSession(
    accountId: string,
    id: string,
    { limit, after }: SessionEventsQuery,
    reader: Reader,
  ): Promise<{ body: string; count: number }> {
    const { em } = this.#parts;
    const session = await em().findOneOrFail(RecordingSession, { accountId, id });
    await reader.reserve(FIRST_BYTES_MAX);
    const { events, next } = await pageOfEvents(em(), session, {
      limit,
      sizeMax: PAGE_BYTES_MAX,
      bodiesMax: FIRST_BYTES_MAX,
      after: after === undefined ? undefined : cursorOf(after),
    });
    const results = await this.#renderAll(accountId, events, reader);
    const renderedSession = JSON.stringify(presentSession(session));
    const token = JSON.stringify(next && tokenOf(next));
    const body = `{"session":${renderedSession},"results":[${results.join()}],"next":${token}}`;
    return { body, count: results.length };
  }
}

export function presentSession(row: RecordingSession): Session {
  return present(Session, row, { session_id: row.id, owner: row.accountId });
}

function tokenOf({ occurredMs, arrival }: Cursor): string {
  return `${occurredMs}-${arrival}`;
}

function cursorOf(token: string): Cursor {
  const [occurredMs = 0, arrival = 0] = token.split('-').map(Number);
  return { occurredMs, arrival };
}
