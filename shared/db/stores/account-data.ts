import type { EntityManager, Loaded } from '@mikro-orm/postgresql';
import { ServiceKey } from '../entities/account.ts';
import { Connection } from '../entities/connection.ts';
import type { MemoryLink } from '../entities/memory.ts';
import { Episode, Fact, Profile, RawMemory } from '../entities/memory.ts';
import { ProviderCall } from '../entities/provider.ts';
import { RecordingSession } from '../entities/recording.ts';
import { Reply } from '../entities/reply.ts';
import { linksOf } from './memory/links.ts';
import { type Cursor, type EventRow, pageOfEvents } from './recording/read.ts';

/** Rows of one kind that belong to an account. */
export type AccountPage =
  | { type: 'key'; rows: ServiceKey[] }
  | { type: 'connection'; rows: Loaded<Connection, 'app'>[] }
  | { type: 'session'; rows: RecordingSession[] }
  | { type: 'event'; rows: EventRow[] }
  | { type: 'profile'; rows: Profile[] }
  | { type: 'raw'; rows: RawMemory[] }
  | { type: 'episode'; rows: Episode[] }
  | { type: 'fact'; rows: Fact[] }
  | { type: 'link'; rows: MemoryLink[] }
  | { type: 'provider_call'; rows: ProviderCall[] }
  | { type: 'prediction'; rows: Reply[] };

/** Rows that are in memory at once. */
const PAGE = 100;
/** Links that are. */
const LINKS = 1000;
/** Bytes of rows with long texts that are. A larger event comes alone, and without its body. */
export const PAGE_SIZE_MAX = 1024 * 1024;
const FIRST = '00000000-0000-0000-0000-000000000000';
const IN_ORDER = { orderBy: { id: 'asc' }, limit: PAGE } as const;

/**
 * Everything that belongs to an account, page by page: each session followed by its events, each page of episodes or
 * facts by what they are derived from. Reads the next page only when the one before was taken.
 */
export async function* accountData(
  em: () => EntityManager,
  accountId: string,
): AsyncGenerator<AccountPage, void> {
  const account = accountId;
  for await (const rows of pages((after) => em().find(ServiceKey, { account, ...after }, IN_ORDER)))
    yield { type: 'key', rows };

  const withApp = { ...IN_ORDER, populate: ['app'] } as const;
  for await (const rows of pages((after) => em().find(Connection, { account, ...after }, withApp)))
    yield { type: 'connection', rows };

  for await (const rows of pages((after) => em().find(RecordingSession, { accountId, ...after }, IN_ORDER)))
    for (const session of rows) {
      yield { type: 'session', rows: [session] };
      for await (const events of eventsOf(em, session)) yield { type: 'event', rows: events };
    }

  const profile = await em().findOne(Profile, { account });
  if (profile !== null) yield { type: 'profile', rows: [profile] };
  for await (const id of sizedPages(em, accountId, 'raw_memories'))
    yield { type: 'raw', rows: await em().find(RawMemory, { account, id }, IN_ORDER) };
  for await (const id of sizedPages(em, accountId, 'episodes')) {
    yield { type: 'episode', rows: await em().find(Episode, { account, id }, IN_ORDER) };
    for await (const rows of linkPages(em, accountId, id.$in)) yield { type: 'link', rows };
  }
  for await (const id of sizedPages(em, accountId, 'facts')) {
    yield { type: 'fact', rows: await em().find(Fact, { account, id }, IN_ORDER) };
    for await (const rows of linkPages(em, accountId, id.$in)) yield { type: 'link', rows };
  }
  for await (const rows of pages((after) => em().find(ProviderCall, { accountId, ...after }, IN_ORDER)))
    yield { type: 'provider_call', rows };
  for await (const id of sizedPages(em, accountId, 'replies'))
    yield { type: 'prediction', rows: await em().find(Reply, { accountId, id }, IN_ORDER) };
}

/** The ids of a table's rows in pages that are bounded in bytes too. A larger row comes alone. */
async function* sizedPages(em: () => EntityManager, accountId: string, table: string) {
  const measured = pages(({ id }) =>
    em().execute<{ id: string; size: number }[]>(
      `select r.id, octet_length(to_json(r)::text) as size from ${table} r
        where r.account_id = ? and r.id > ?::uuid order by r.id limit ?`,
      [accountId, id?.$gt ?? FIRST, PAGE],
    ),
  );
  for await (const rows of measured) {
    let page: string[] = [];
    let together = 0;
    for (const { id, size } of rows) {
      together += size;
      if (page.length > 0 && together > PAGE_SIZE_MAX) {
        yield { $in: page };
        page = [];
        together = size;
      }
      page.push(id);
    }
    yield { $in: page };
  }
}

/** The links of these rows, in pages: a row may have hundreds. */
async function* linkPages(em: () => EntityManager, accountId: string, ids: string[]) {
  let page: MemoryLink[] = [];
  do {
    const last = page.at(-1);
    page = await linksOf(em(), accountId, ids, { limit: LINKS, ...(last && { after: last }) });
    if (page.length > 0) yield page;
  } while (page.length === LINKS);
}

/** A query's rows in pages, each after the last id of the one before. */
async function* pages<Row extends { id: string }>(
  read: (after: { id?: { $gt: string } }) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  let page = await read({});
  while (page.length > 0) {
    yield page;
    const last = page.at(-1);
    page = page.length < PAGE || last === undefined ? [] : await read({ id: { $gt: last.id } });
  }
}

/** A session's events. Their pages are bounded in bytes too, so that large events do not fill the memory. */
async function* eventsOf(em: () => EntityManager, session: RecordingSession) {
  let after: Cursor | undefined;
  do {
    const page = { limit: PAGE, sizeMax: PAGE_SIZE_MAX, after };
    const { events, next } = await pageOfEvents(em(), session, page);
    yield events;
    after = next ?? undefined;
  } while (after !== undefined);
}
