import { CLOCK_AHEAD_MAX_MS, dateOf, EARLIEST_TIME_MS } from '../schemas/moment.ts';
import {
  CUSTOM_PREFIX,
  CustomEvent,
  EVENTS,
  type RecordingReceipt,
  UnknownEvent,
} from '../schemas/recording.ts';
import { compile } from '../schemas/validator.ts';
import { Slices } from '../timing/slices.ts';
import { flawOf } from './json-flaw.ts';
import { projectAt, projectOf } from './project.ts';

export interface RecordedEvent {
  id: string;
  sessionId: string;
  type: string;
  /** RFC 3339, UTC, to the millisecond. */
  occurredAt: string;
  source: string;
  sourceDetail: string | null;
  project: string | null;
  /** The posted event as JSON on one line, with `occurred_at` in UTC and without `received_at`. */
  body: string;
}

export interface CheckedBatch {
  events: RecordedEvent[];
  /** For each of `events`, its index in the batch. */
  indexes: number[];
  invalid: RecordingReceipt['invalid'];
}

const ERRORS_MAX = 3;

/** Checks each row of a batch. `now` is in Unix milliseconds. */
export async function checkBatch(batch: readonly unknown[], now: number): Promise<CheckedBatch> {
  const checkedBatch: CheckedBatch = { events: [], indexes: [], invalid: [] };
  const slices = new Slices();
  for (const [index, row] of batch.entries()) {
    await slices.pause();
    const result = checkRow(row, now);
    if ('errors' in result) checkedBatch.invalid.push({ index, errors: result.errors });
    else {
      checkedBatch.events.push(result);
      checkedBatch.indexes.push(index);
    }
  }
  return checkedBatch;
}

const VALIDATORS = new Map(Object.entries(EVENTS).map(([type, schema]) => [type, compile(schema)]));
const validateCustomEvent = compile(CustomEvent);
const validateUnknownEvent = compile(UnknownEvent);

function checkRow(row: unknown, now: number): RecordedEvent | { errors: string[] } {
  const result = validatorOf(row)(row);
  if (!result.ok) {
    const faults = result.faults.slice(0, ERRORS_MAX);
    return { errors: faults.map(({ loc, msg }) => [...loc.slice(1), msg].join(': ')) };
  }
  const flaw = flawOf(result.value);
  if (flaw !== undefined) return { errors: [flaw] };

  const posted = result.value;
  const moment = dateOf(posted.occurred_at);
  if (moment.getTime() < EARLIEST_TIME_MS || moment.getTime() > now + CLOCK_AHEAD_MAX_MS)
    return { errors: ['occurred_at: Input should be from 2000-01-01 on, and at most 24 hours ahead'] };
  const occurredAt = moment.toISOString();
  return {
    id: posted.id,
    sessionId: posted.session_id,
    type: posted.type,
    occurredAt,
    source: posted.source,
    sourceDetail: posted.source_detail ?? null,
    project: posted.project === undefined ? projectAt(posted.source_detail) : projectOf(posted.project),
    body: JSON.stringify({ ...posted, occurred_at: occurredAt, received_at: undefined }),
  };
}

/** For a missing or unknown type, returns a validator that refuses every row. */
function validatorOf(row: unknown) {
  const type = typeof row === 'object' && row !== null && 'type' in row ? row.type : undefined;
  if (typeof type !== 'string') return validateUnknownEvent;
  return type.startsWith(CUSTOM_PREFIX)
    ? validateCustomEvent
    : (VALIDATORS.get(type) ?? validateUnknownEvent);
}

const FOREIGN_SESSION = 'session belongs to another user';

/** `foreign` lists positions in `events`. The sessions of these events belong to another account. */
export function receiptOf(
  { events, indexes, invalid }: CheckedBatch,
  { accepted, foreign }: { accepted: number; foreign: number[] },
): RecordingReceipt {
  const refused = foreign.map((place) => ({ index: indexes[place] ?? 0, errors: [FOREIGN_SESSION] }));
  return {
    accepted,
    duplicates: events.length - accepted - foreign.length,
    invalid: [...invalid, ...refused].sort((a, b) => a.index - b.index),
  };
}

/** Returns a stored event's JSON, with `received_at` added as the last property. */
export function storedEventJson({ body, receivedAt }: { body: string; receivedAt: Date }): string {
  return `${body.slice(0, -1)},"received_at":"${receivedAt.toISOString()}"}`;
}
