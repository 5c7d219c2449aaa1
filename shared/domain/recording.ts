import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RecordingEvent, RecordingSession } from '../db/entities/recording.ts';
import {
  CUSTOM_PREFIX,
  CustomEvent,
  EVENTS,
  type RecordingReceipt,
  type Session,
  UnknownEvent,
} from '../schemas/recording.ts';
import { compile } from '../schemas/validator.ts';

/** An event that may be stored. */
export interface RecordedEvent {
  id: string;
  sessionId: string;
  type: string;
  /** RFC 3339, UTC, to the millisecond. */
  occurredAt: string;
  source: string;
  sourceDetail: string | null;
  /** As JSON, on one line: as it was posted, but for its time, which is in UTC, and for a `received_at`, which is ours. */
  body: string;
}

/** A posted batch, sorted out: what may be stored, where it stood, and what is wrong with the rest. */
export interface CheckedBatch {
  events: RecordedEvent[];
  /** The index of each of the events in the batch. */
  indexes: number[];
  invalid: RecordingReceipt['invalid'];
}

const ERRORS_MAX = 3;
const DEPTH_MAX = 64;
const EARLIEST = Date.parse('2000-01-01T00:00:00Z');
const AHEAD_MAX_MS = 24 * 60 * 60 * 1000;

/** How long the thread is kept from others. */
const SLICE_MS = 5;

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

/** One event, or up to three things that are wrong with it. */
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

/** The check of the row's type; of none, for a row that has no type that we know. */
function checkOf(row: unknown) {
  const type = typeof row === 'object' && row !== null && 'type' in row ? row.type : undefined;
  if (typeof type !== 'string') return CHECK_UNKNOWN;
  return type.startsWith(CUSTOM_PREFIX) ? CHECK_CUSTOM : (CHECKS.get(type) ?? CHECK_UNKNOWN);
}

/** What keeps a row from being stored and given back as it is, anywhere inside. Level by level: a client chose how deep it goes. */
function flawOf(row: object): string | undefined {
  let level = [row];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > DEPTH_MAX) return `Input should be nested at most ${DEPTH_MAX} levels deep`;
    const next: object[] = [];
    for (const node of level) {
      if (!Array.isArray(node)) {
        const keys = Object.keys(node);
        if (!keys.every(isStorable)) return 'Text should hold neither NUL nor a lone surrogate';
        if (keys.includes('__proto__')) return '__proto__: Extra inputs are not permitted';
      }
      for (const value of Array.isArray(node) ? node : Object.values(node)) {
        if (typeof value === 'string' && !isStorable(value))
          return 'Text should hold neither NUL nor a lone surrogate';
        // 1e400 reads as infinity, which JSON cannot say.
        if (typeof value === 'number' && !Number.isFinite(value)) return 'Number should be finite';
        if (typeof value === 'object' && value !== null) next.push(value);
      }
    }
    level = next;
  }
  return undefined;
}

function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

const RFC_3339 = /^[-\d]{10}T[:.\d]+(?:Z|[+-]\d\d:\d\d)$/i;

/** In milliseconds. The schema's format knows the calendar, but takes leap seconds, a blank for the T, and zones without a colon. */
function momentOf(timestamp: string): number | undefined {
  const moment = RFC_3339.test(timestamp) ? Date.parse(timestamp.toUpperCase()) : Number.NaN;
  return Number.isNaN(moment) ? undefined : moment;
}

const FOREIGN = 'session belongs to another user';

/** What the poster of a batch is told. `foreign` holds the places, among the events, of those for another user's session. */
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
export function storedEventJson({ body, receivedAt }: Pick<RecordingEvent, 'body' | 'receivedAt'>): string {
  return `${body.slice(0, -1)},"received_at":"${receivedAt.toISOString()}"}`;
}

/** A session as it is shown. */
export function sessionAnswer(row: RecordingSession): Session {
  return {
    session_id: row.id,
    owner: row.accountId,
    started_at: row.startedAt.toISOString(),
    source: row.source,
    source_detail: row.sourceDetail ?? null,
    ended_at: row.endedAt?.toISOString() ?? null,
  };
}
