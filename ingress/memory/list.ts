import type { ListTerms, Page, Position } from '../../shared/db/stores/memory/list.ts';
import { EARLIEST, momentOf } from '../../shared/domain/moment.ts';
import { MIB } from '../../shared/schemas/limits.ts';
import type { ListQuery } from '../../shared/schemas/memory.ts';
import { ValidationError } from '../../shared/schemas/validator.ts';
import type { TakeTurn } from '../limits/account-turns.ts';
import type { Reserve } from '../limits/answer-budget.ts';
import { positionOf, tokenOf } from './cursor.ts';

/** Bytes of the rows of a page, since `limit` counts rows of any size. No row is larger. */
const PAGE_SIZE_MAX = MIB;

/** What every list of memory says of its pages. */
export const PAGE_DESCRIPTION =
  'A page ends before `limit` rows where they come to 1 MiB; `next` is null on the last page only.';

/** What a page is read with. */
interface Reading {
  reserve: Reserve;
  search: TakeTurn;
  /** Aborted when the caller disconnects. */
  signal: AbortSignal;
}

/** Reads one page of a list, once there is room for it. Throws as `reserve` and `search` do. */
export async function readPage<Row>(
  list: { accountId: string; tier: string },
  { limit, cursor, since, until, tag, q }: Omit<ListQuery, 'session_id'>,
  { reserve, search, signal }: Reading,
  read: (terms: ListTerms) => Promise<Page<Row>>,
  placeOf: (row: Row) => Position,
): Promise<{ rows: Row[]; next: string | null }> {
  const terms = {
    limit,
    sizeMax: PAGE_SIZE_MAX,
    after: cursor === undefined ? undefined : positionOf(cursor, list),
    since: queryTime('since', since),
    until: queryTime('until', until),
    tag,
    q,
  };
  // First, so that no search holds its turn while it waits for room.
  await reserve(PAGE_SIZE_MAX);
  const searcher = { party: list.accountId, gone: signal };
  const { rows, more } = await (q === undefined ? read(terms) : search(searcher, () => read(terms)));
  const last = rows.at(-1);
  return { rows, next: more && last !== undefined ? tokenOf(placeOf(last), list) : null };
}

/** A time in the query. Throws a `ValidationError` for what the schema's format lets through. */
export function queryTime(name: string, value: string | undefined): Date | undefined {
  if (value === undefined) return undefined;
  const moment = momentOf(value);
  // Every row is later than that.
  if (moment !== undefined) return new Date(Math.max(moment, EARLIEST));
  const msg = 'Input should be a valid date and time with a zone';
  throw new ValidationError([{ loc: ['query', name], type: 'datetime_parsing', msg }]);
}
