import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  CUSTOM_PREFIX,
  CustomEvent,
  EVENTS,
  type RecordingReceipt,
  type Session,
  UnknownEvent,
} from '../schemas/recording.ts';
import { compile } from '../schemas/validator.ts';
import { flawOf } from './json-flaw.ts';
import { AHEAD_MAX_MS, EARLIEST, momentOf } from './moment.ts';

/** An event that may be stored. */
export interface RecordedEvent {
  id: string;
  sessionId: string;
  type: string;
  /** RFC 3339, UTC, to the millisecond. */
  occurredAt: string;
  source: string;
  sourceDetail: string | null;
  /** JSON on one line: as posted, except that its time is in UTC, and without `received_at`, which is ours. */
  body: string;
}

/** A checked batch: what may be stored, its place in the batch, and what is wrong with the rest. */
export interface CheckedBatch {
  events: RecordedEvent[];
  /** The index of each of the events in the batch. */
  indexes: number[];
  invalid: RecordingReceipt['invalid'];
}

const ERRORS_MAX = 3;

/** Time for which the event loop may be blocked at once. */
const SLICE_MS = 2;

/** Checks each row of a batch on its own; `now` is in milliseconds. A large batch takes several turns of the event loop. */
export async function checkBatch(batch: readonly unknown[], now: number): Promise<CheckedBatch> {
  const checked: CheckedBatch = { events: [], indexes: [], invalid: [] };
  let since = performance.now();
  for (const [index, row] of batch.entries()) {
    if (performance.now() - since > SLICE_MS) {
      await nextTurn();
      since = performance.now();
    }
    const result = checkRow(row, now);
    if ('errors' in result) checked.invalid.push({ index, errors: result.errors });
    else {
      checked.events.push(result);
      checked.indexes.push(index);
    }
  }
  return checked;
}

const CHECKS = new Map(Object.entries(EVENTS).map(([type, schema]) => [type, compile(schema)]));
const CHECK_CUSTOM = compile(CustomEvent);
const CHECK_UNKNOWN = compile(UnknownEvent);

/** The event, or up to three faults. */
export function checkRow(row: unknown, now: number): RecordedEvent | { errors: string[] } {
  const result = checkOf(row)(row);
  if (!result.ok) {
    const faults = result.faults.slice(0, ERRORS_MAX);
    return { errors: faults.map(({ loc, msg }) => [...loc.slice(1), msg].join(': ')) };
  }
  const flaw = flawOf(result.value);
  if (flaw !== undefined) return { errors: [flaw] };

  const posted = result.value;
  const moment = momentOf(posted.occurred_at);
  if (moment === undefined)
    return { errors: ['occurred_at: Input should be a valid date and time with a zone'] };
  if (moment < EARLIEST || moment > now + AHEAD_MAX_MS)
    return { errors: ['occurred_at: Input should be from 2000-01-01 on, and at most 24 hours ahead'] };
  const occurredAt = new Date(moment).toISOString();
  return {
    id: posted.id,
    sessionId: posted.session_id,
    type: posted.type,
    occurredAt,
    source: posted.source,
    sourceDetail: posted.source_detail ?? null,
    body: JSON.stringify({ ...posted, occurred_at: occurredAt, received_at: undefined }),
  };
}

/** The check for the row's type; one that always fails for a missing or unknown type. */
function checkOf(row: unknown) {
  const type = typeof row === 'object' && row !== null && 'type' in row ? row.type : undefined;
  if (typeof type !== 'string') return CHECK_UNKNOWN;
  return type.startsWith(CUSTOM_PREFIX) ? CHECK_CUSTOM : (CHECKS.get(type) ?? CHECK_UNKNOWN);
}

const FOREIGN = 'session belongs to another user';

/** The answer to a posted batch. `foreign` has the positions, among the events, of those for another user's session. */
export function receiptOf(
  { events, indexes, invalid }: CheckedBatch,
  { accepted, foreign }: { accepted: number; foreign: number[] },
): RecordingReceipt {
  const refused = foreign.map((place) => ({ index: indexes[place] ?? 0, errors: [FOREIGN] }));
  return {
    accepted,
    duplicates: events.length - accepted - foreign.length,
    invalid: [...invalid, ...refused].sort((a, b) => a.index - b.index),
  };
}

/** A stored event's JSON, with the time of its arrival as its last property. */
export function storedEventJson({ body, receivedAt }: { body: string; receivedAt: Date }): string {
  return `${body.slice(0, -1)},"received_at":"${receivedAt.toISOString()}"}`;
}

/** A session as it is stored. */
interface StoredSession {
  id: string;
  accountId: string;
  startedAt: Date;
  source: string;
  sourceDetail?: string | null;
  endedAt?: Date | null;
}

/** A session as it is shown. */
export function sessionAnswer(row: StoredSession): Session {
  return {
    session_id: row.id,
    owner: row.accountId,
    started_at: row.startedAt.toISOString(),
    source: row.source,
    source_detail: row.sourceDetail ?? null,
    ended_at: row.endedAt?.toISOString() ?? null,
  };
}
