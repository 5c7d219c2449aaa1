import type { RAW_ORIGINS } from '../schemas/limits.ts';
import type {
  EpisodeChange,
  EpisodeRequest,
  FactChange,
  FactRequest,
  ProfileRequest,
  RAW_KINDS,
  RAW_ROLES,
  RawMemoryRequest,
} from '../schemas/memory.ts';
import { CLOCK_AHEAD_MAX_MS, dateOf, EARLIEST_TIME_MS } from '../schemas/moment.ts';
import { defined } from '../schemas/present.ts';
import { codePointsIn } from '../text/cut.ts';
import type { Faults } from './faults.ts';
import { flawOf } from './json-flaw.ts';
import { projectOf } from './project.ts';

const METADATA_CHARS_MAX = 8000;
const PROFILE_CHARS_MAX = 64_000;

type RawKind = (typeof RAW_KINDS)[number];
type RawRole = (typeof RAW_ROLES)[number] | null;

export interface RawValues {
  content: string;
  kind: RawKind;
  role: RawRole;
  origin: (typeof RAW_ORIGINS)[number];
  agent: string | null;
  sessionId: string | null;
  source: string;
  occurredAt: Date;
  /** Undefined for the project of its session. */
  project?: string | null;
  tags: string[];
  metadata: Record<string, unknown>;
}

/** Fills in the defaults of a posted raw row. `now` is in Unix milliseconds. */
export function rawValues(posted: RawMemoryRequest, now: number, faults: Faults): RawValues {
  const { content, kind = 'other', agent = null, source = 'api', metadata = {} } = posted;
  checkJson(metadata, METADATA_CHARS_MAX, faults.forPart('metadata'));
  const role = posted.role ?? roleOf(kind, agent);
  return {
    content,
    kind,
    role,
    origin: posted.origin ?? (role === 'human' || role === 'agent' ? role : 'unknown'),
    agent,
    sessionId: posted.session_id ?? null,
    source,
    occurredAt:
      posted.occurred_at === undefined
        ? new Date(now)
        : parsePastTime(posted.occurred_at, now, faults.forPart('occurred_at')),
    ...projectValue(posted.project),
    tags: unique(posted.tags ?? []),
    metadata: metadata as Record<string, unknown>,
  };
}

/** Returns null for `other`, so that such a row is no evidence of what a person said. */
function roleOf(kind: RawKind, agent: string | null): RawRole {
  if (kind === 'prompt') return 'agent';
  if (kind === 'reply' || kind === 'note') return 'human';
  if (kind === 'message') return agent === null ? 'human' : 'agent';
  return null;
}

export function episodeValues(change: EpisodeChange, now: number, faults: Faults) {
  const { title, summary, status, salience, model, started_at, ended_at, tags, raw_ids } = change;
  return defined({
    title,
    summary,
    status,
    salience,
    model,
    startedAt:
      started_at === undefined ? undefined : parsePastTime(started_at, now, faults.forPart('started_at')),
    endedAt: ended_at === undefined ? undefined : parsePastTime(ended_at, now, faults.forPart('ended_at')),
    ...projectValue(change.project),
    tags: tags && unique(tags),
    sources: raw_ids,
  });
}
export type EpisodeValues = ReturnType<typeof episodeValues>;

export function newEpisode(posted: EpisodeRequest, now: number, faults: Faults) {
  const { title, summary, origin = 'human' } = posted;
  const { sources = [], ...values } = episodeValues(posted, now, faults);
  const startedAt = values.startedAt ?? new Date(now);
  const endedAt = values.endedAt ?? new Date(now);
  checkSpan(startedAt, endedAt, faults, EPISODE_SPAN, { sentEnd: values.endedAt !== undefined });
  return { values: { tags: [], ...values, title, summary, startedAt, endedAt, origin }, sources, faults };
}
export type NewEpisode = ReturnType<typeof newEpisode>;

/** A fact's validity may begin or end in the future. */
export function factValues(change: FactChange, faults: Faults) {
  const { text, kind, tags, confidence, episode_ids, superseded_by, pinned, model } = change;
  return defined({
    text,
    kind,
    confidence,
    pinned,
    model,
    supersededBy: superseded_by,
    validFrom: parseAnyTimeOrNone(change.valid_from, faults.forPart('valid_from')),
    validTo: parseAnyTimeOrNone(change.valid_to, faults.forPart('valid_to')),
    tags: tags && unique(tags),
    sources: episode_ids,
  });
}
export type FactValues = ReturnType<typeof factValues>;

export function newFact(posted: FactRequest, faults: Faults) {
  const { text, origin = 'human' } = posted;
  const { sources = [], ...values } = factValues(posted, faults);
  checkSpan(values.validFrom, values.validTo, faults, FACT_SPAN, { sentEnd: true });
  return { values: { tags: [], ...values, text, origin }, sources, faults };
}
export type NewFact = ReturnType<typeof newFact>;

export const EPISODE_SPAN = ['started_at', 'ended_at'] as const;
export const FACT_SPAN = ['valid_from', 'valid_to'] as const;

/** Adds a fault if `from` is later than `to`: for the end or, if the client sent no end, for the beginning. */
export function checkSpan(
  from: Date | null | undefined,
  to: Date | null | undefined,
  faults: Faults,
  [beginning, end]: typeof EPISODE_SPAN | typeof FACT_SPAN,
  { sentEnd }: { sentEnd: boolean },
): void {
  if (!from || !to || from <= to) return;
  if (sentEnd) faults.add(end, 'Input should not lie before the beginning');
  else faults.add(beginning, 'Input should not lie after the end');
}

const STATEMENT_COLUMNS = ['text', 'kind', 'confidence', 'validFrom', 'validTo'] as const;
type StatementColumns = Pick<FactValues, (typeof STATEMENT_COLUMNS)[number]>;

/** Reports whether a change alters what a fact states, so that the former wording must be kept. */
export function changesStatement(change: StatementColumns, fact: StatementColumns): boolean {
  return STATEMENT_COLUMNS.some(
    (column) => change[column] !== undefined && change[column]?.valueOf() !== fact[column]?.valueOf(),
  );
}

export function profileValues({ data, summary }: ProfileRequest, faults: Faults) {
  if (data !== undefined) checkJson(data, PROFILE_CHARS_MAX, faults.forPart('data'));
  return defined({ data: data as Record<string, unknown> | undefined, summary });
}

function checkJson(value: object, charactersMax: number, faults: Faults): void {
  const flaw = flawOf(value);
  if (flaw !== undefined) faults.add([], flaw);
  else if (codePointsIn(JSON.stringify(value)) > charactersMax)
    faults.add([], `Input should have at most ${charactersMax} characters as JSON`);
}

/** Parses the time of a past event: from 2000 on, and at most a day ahead of `now`, which is in Unix milliseconds. */
export function parsePastTime(timestamp: string, now: number, faults: Faults): Date {
  const moment = parseAnyTime(timestamp, faults);
  if (moment.getTime() > now + CLOCK_AHEAD_MAX_MS) faults.add([], 'Input should be at most 24 hours ahead');
  return moment;
}

function parseAnyTime(timestamp: string, faults: Faults): Date {
  const moment = dateOf(timestamp);
  if (moment.getTime() < EARLIEST_TIME_MS) faults.add([], 'Input should be from 2000-01-01 on');
  return moment;
}

function parseAnyTimeOrNone(timestamp: string | null | undefined, faults: Faults): Date | null | undefined {
  return typeof timestamp === 'string' ? parseAnyTime(timestamp, faults) : timestamp;
}

const projectValue = (project: string | null | undefined) =>
  project === undefined ? {} : { project: project && projectOf(project) };

const unique = (values: readonly string[]) => [...new Set(values)];
