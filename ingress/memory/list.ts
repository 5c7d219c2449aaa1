import type { ListTerms, Position } from '../../shared/db/stores/memory/list.ts';
import { EARLIEST, momentOf } from '../../shared/domain/moment.ts';
import type { ListQuery } from '../../shared/schemas/memory.ts';
import { ValidationError } from '../../shared/schemas/validator.ts';
import { positionOf, tokenOf } from './cursor.ts';

const PAGE_LIMIT = 50;

/** Reads one page of a list, and a row more, which shows whether there is another page. */
export async function readPage<Row>(
  list: { accountId: string; tier: string },
  { limit, cursor, since, until, tag, q }: Omit<ListQuery, 'session_id'>,
  read: (terms: ListTerms) => Promise<Row[]>,
  placeOf: (row: Row) => Position,
): Promise<{ rows: Row[]; next: string | null }> {
  const size = limit === undefined ? PAGE_LIMIT : Number(limit);
  const found = await read({
    limit: size + 1,
    after: cursor === undefined ? undefined : positionOf(cursor, list),
    since: queryTime('since', since),
    until: queryTime('until', until),
    tag,
    q,
  });
  const rows = found.slice(0, size);
  const last = rows.at(-1);
  return { rows, next: found.length > size && last !== undefined ? tokenOf(placeOf(last), list) : null };
}

/** A time in the query. Throws a `ValidationError` for what the schema's format lets through. */
export function queryTime(name: string, value: string | undefined): Date | undefined {
  if (value === undefined) return undefined;
  const moment = momentOf(value);
  // Every row is later than that, and PostgreSQL has no year 0.
  if (moment !== undefined) return new Date(Math.max(moment, EARLIEST));
  const msg = 'Input should be a valid date and time with a zone';
  throw new ValidationError([{ loc: ['query', name], type: 'datetime_parsing', msg }]);
}
