import { createHash } from 'node:crypto';
import type { Reads } from '../../shared/db/access-log.ts';
import type { ListOptions, Page } from '../../shared/db/stores/memory/list.ts';
import type { Position } from '../../shared/db/stores/memory/search.ts';
import { projectOf } from '../../shared/domain/project.ts';
import type { ReadTier } from '../../shared/schemas/accesses.ts';
import { MEMORY_BODY_VALUES_MAX, MIB } from '../../shared/schemas/limits.ts';
import { DeletionReceipt, type ListQuery } from '../../shared/schemas/memory.ts';
import { dateOf, EARLIEST_TIME_MS } from '../../shared/schemas/moment.ts';
import { ValidationError } from '../../shared/schemas/validator.ts';
import type { TakeTurn } from '../guards/account-turns.ts';
import type { ReserveAnswerMemory } from '../guards/budgets.ts';

/** Maximum bytes of a page's rows. No single row is larger. */
const PAGE_BYTES_MAX = MIB;

export const PAGE_DESCRIPTION =
  'With `q` the most relevant first. A page ends before `limit` rows where they come to 1 MiB; `next` is null on the last page only.';

/** Shared declaration of the endpoints that list rows. */
export const listDefaults = {
  tag: 'Memory',
  description: PAGE_DESCRIPTION,
  errors: ['overloaded'],
} as const;

/** Shared declaration of the endpoints that add rows. */
export const additionDefaults = {
  tag: 'Memory',
  changes: 'memory',
  inTurn: 'memory',
  description: 'A list is stored whole or not at all, and answered with a list in the same order.',
  bodyValues: MEMORY_BODY_VALUES_MAX,
  bodyLimit: 4 * MIB,
  keepsBody: true,
  status: 201,
} as const;

/** Shared declaration of the endpoints that delete a row. */
export const deletionDefaults = {
  tag: 'Memory',
  changes: 'memory',
  inTurn: 'memory',
  params: { id: 'uuid' },
  response: DeletionReceipt,
} as const;

interface PageInput {
  user: { id: string };
  query: Omit<ListQuery, 'session_id'>;
  reserve: ReserveAnswerMemory;
  /** Aborted when the caller disconnects. */
  signal: AbortSignal;
}

/**
 * Answers with a page of rows, presented one by one. Throws a `ValidationError` for an invalid cursor, and the
 * errors of `reserve`, `takeSearchTurn` and `read`.
 */
export async function answerPage<Row, Presented>(
  tier: ReadTier,
  { user, query, reserve, signal }: PageInput,
  takeSearchTurn: TakeTurn,
  read: (options: ListOptions) => Promise<Page<Row>>,
  present: (row: Row) => Presented,
): Promise<{ body: { results: Presented[]; next: string | null }; read: Reads }> {
  const { limit, cursor, since, until, tag, project, q } = query;
  const listName = { accountId: user.id, tier, q };
  const options = {
    limit,
    sizeMax: PAGE_BYTES_MAX,
    after: cursor === undefined ? undefined : positionOf(cursor, listName),
    since: queryTime(since),
    until: queryTime(until),
    tag,
    // A place without a name, such as a home folder, is nobody's project.
    project: project === undefined ? undefined : (projectOf(project) ?? ''),
    q,
  };
  // Reserves memory before it takes a search turn: a request that waits for memory must not hold a turn.
  await reserve(PAGE_BYTES_MAX);
  const searcher = { party: user.id, gone: signal };
  const { rows, end } = await (q === undefined
    ? read(options)
    : takeSearchTurn(searcher, () => read(options)));
  const next = end === undefined ? null : cursorOf(end, listName);
  return { body: { results: rows.map(present), next }, read: { [tier]: rows.length } };
}

/** Returns a bound of a list. No row is earlier than `EARLIEST_TIME_MS`. */
export function queryTime(value: string | undefined): Date | undefined {
  return value === undefined ? undefined : new Date(Math.max(dateOf(value).getTime(), EARLIEST_TIME_MS));
}

const CHECKSUM_CHARS = 8;
/** Matches a position: milliseconds since 1970 in base 36, the digits of a UUID, and the relevance. */
const POSITION_PATTERN =
  /^([0-9a-z]{1,9})-([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})-([0-9]{1,4})$/;

/** Identifies the list to which a cursor belongs. A cursor of another list is refused. */
interface ListName {
  accountId: string;
  tier: string;
  q: string | undefined;
}

/** Encodes a position, with a checksum over the position and its list. */
function cursorOf({ at, id, relevance }: Position, list: ListName): string {
  const position = `${at.getTime().toString(36)}-${id.replaceAll('-', '')}-${relevance}`;
  return `${position}-${checksum(position, list)}`;
}

/** Throws a `ValidationError` for anything that `cursorOf` could not have returned for this list. */
function positionOf(token: string, list: ListName): Position {
  const position = token.slice(0, -CHECKSUM_CHARS - 1);
  const [, at = '', ...rest] = POSITION_PATTERN.exec(position) ?? [];
  const relevance = Number(rest.pop());
  if (at === '' || `${position}-${checksum(position, list)}` !== token)
    throw new ValidationError([{ ...CURSOR_ERROR, input: token }]);
  return { at: new Date(Number.parseInt(at, 36)), id: rest.join('-'), relevance };
}

const CURSOR_ERROR = {
  loc: ['query', 'cursor'],
  type: 'value_error' as const,
  msg: 'Input should be the cursor of the previous page',
};

/** Needs no secret, because a forged cursor leads only into the forger's own list. */
function checksum(position: string, { accountId, tier, q = '' }: ListName): string {
  return createHash('sha256')
    .update(`${accountId} ${tier} ${position} ${q}`)
    .digest('base64url')
    .slice(0, CHECKSUM_CHARS);
}

/** Returns one row for one posted row, a list for a list. */
export function shapeAsPosted<Row>(body: unknown, rows: Row[]): Row | Row[] {
  const [only] = rows;
  return Array.isArray(body) || only === undefined ? rows : only;
}
