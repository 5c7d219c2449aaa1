import type { EntityManager, Loaded } from '@mikro-orm/postgresql';
import { idsOf, LOWEST_ID } from '../../ids.ts';
import type { AccessDay } from '../entities/access.ts';
import { RefreshToken, ServiceKey } from '../entities/account.ts';
import { App } from '../entities/app.ts';
import { Connection } from '../entities/connection.ts';
import { Grant } from '../entities/grant.ts';
import type { MemoryLink } from '../entities/memory.ts';
import { Episode, Fact, Profile, RawMemory } from '../entities/memory.ts';
import type { Passkey } from '../entities/passkey.ts';
import { PermissionDecision } from '../entities/permission.ts';
import { ProviderCall } from '../entities/provider.ts';
import { RecordingSession } from '../entities/recording.ts';
import { Reply } from '../entities/reply.ts';
import { Webhook } from '../entities/webhook.ts';
import { accessCursor, listAccesses } from './access-log.ts';
import { forgottenLinks, type LinkRange, linksOf } from './memory/links.ts';
import { listPasskeys } from './passkeys.ts';
import { type Cursor, type EventMark, type EventRow, marksOf, pageOfEvents } from './recording/read.ts';
import { ownedBy } from './webhooks/webhooks.ts';

export type AccountPage =
  | { type: 'key'; rows: ServiceKey[] }
  | { type: 'passkey'; rows: Passkey[] }
  | { type: 'log_in'; rows: RefreshToken[] }
  | { type: 'grant'; rows: Grant[] }
  | { type: 'app'; rows: App[] }
  | { type: 'webhook'; rows: Webhook[] }
  | { type: 'connection'; rows: Loaded<Connection, 'app'>[] }
  | { type: 'access'; rows: AccessDay[] }
  | { type: 'session'; rows: RecordingSession[] }
  | { type: 'mark'; rows: EventMark[] }
  | { type: 'event'; rows: EventRow[] }
  | { type: 'profile'; rows: Profile[] }
  | { type: 'raw'; rows: RawMemory[] }
  | { type: 'episode'; rows: Episode[] }
  | { type: 'fact'; rows: Fact[] }
  | { type: 'link'; rows: MemoryLink[] }
  | { type: 'provider_call'; rows: ProviderCall[] }
  | { type: 'prediction'; rows: Reply[] }
  | { type: 'permission'; rows: PermissionDecision[] };

const PAGE_ROWS_MAX = 100;
const LINK_PAGE_ROWS_MAX = 1000;
/**
 * Maximum size of a page of rows with long texts, in bytes. A larger event is a page without its body, which is read
 * later.
 */
export const PAGE_BYTES_MAX = 1024 * 1024;
const PAGE_BY_ID = { orderBy: { id: 'asc' }, limit: PAGE_ROWS_MAX } as const;

/**
 * Yields the rows of an account's export, page by page: each session before its events, marks of events before them,
 * each page of episodes or facts before the links to their sources. Reads a page only once the previous one has been
 * consumed.
 */
export async function* accountData(
  em: () => EntityManager,
  accountId: string,
): AsyncGenerator<AccountPage, void> {
  const account = accountId;
  for await (const rows of pagesById((after) => em().find(ServiceKey, { account, ...after }, PAGE_BY_ID)))
    yield { type: 'key', rows };

  yield { type: 'passkey', rows: await listPasskeys(em(), account) };

  for await (const rows of pagesById((after) => em().find(RefreshToken, { account, ...after }, PAGE_BY_ID)))
    yield { type: 'log_in', rows };

  for await (const rows of pagesById((after) => em().find(Grant, { account, ...after }, PAGE_BY_ID)))
    yield { type: 'grant', rows };

  for await (const rows of pagesById((after) => em().find(App, { owner: account, ...after }, PAGE_BY_ID)))
    yield { type: 'app', rows };

  for await (const rows of pagesById((after) =>
    em().find(Webhook, { ...ownedBy(account), ...after }, PAGE_BY_ID),
  ))
    yield { type: 'webhook', rows };

  const withApp = { ...PAGE_BY_ID, populate: ['app'] } as const;
  for await (const rows of pagesById((after) => em().find(Connection, { account, ...after }, withApp)))
    yield { type: 'connection', rows };

  const readAccesses = (last?: AccessDay) =>
    listAccesses(em(), account, { limit: PAGE_ROWS_MAX, ...(last && { cursor: accessCursor(last) }) });
  for await (const rows of pages(readAccesses)) yield { type: 'access', rows };

  for await (const rows of pagesById((after) =>
    em().find(RecordingSession, { accountId, ...after }, PAGE_BY_ID),
  ))
    for (const session of rows) {
      yield { type: 'session', rows: [session] };
      for await (const events of eventsOf(em, session)) {
        const marks = await marksOf(em(), accountId, idsOf(events));
        if (marks.length > 0) yield { type: 'mark', rows: marks };
        yield { type: 'event', rows: events };
      }
    }

  const profile = await em().findOne(Profile, { account });
  if (profile !== null) yield { type: 'profile', rows: [profile] };
  // Finds rows by id alone: with the account as well, the planner may read all rows of the account for each page.
  for await (const id of sizedPages(em, accountId, 'raw_memories'))
    yield { type: 'raw', rows: await em().find(RawMemory, { id }, PAGE_BY_ID) };
  for await (const id of sizedPages(em, accountId, 'episodes')) {
    yield { type: 'episode', rows: await em().find(Episode, { id }, PAGE_BY_ID) };
    for await (const rows of linkPages((range) => linksOf(em(), accountId, id.$in, range)))
      yield { type: 'link', rows };
  }
  for await (const id of sizedPages(em, accountId, 'facts', 'id')) {
    yield { type: 'fact', rows: await em().find(Fact, { id }, PAGE_BY_ID) };
    for await (const rows of linkPages((range) => linksOf(em(), accountId, id.$in, range)))
      yield { type: 'link', rows };
  }
  for await (const rows of linkPages((range) => forgottenLinks(em(), accountId, range)))
    yield { type: 'link', rows };
  for await (const id of sizedPages(em, accountId, 'provider_calls', 'at'))
    yield { type: 'provider_call', rows: await em().find(ProviderCall, { id }, PAGE_BY_ID) };
  for await (const id of sizedPages(em, accountId, 'replies'))
    yield { type: 'prediction', rows: await em().find(Reply, { id }, PAGE_BY_ID) };
  for await (const id of sizedPages(em, accountId, 'permission_decisions'))
    yield { type: 'permission', rows: await em().find(PermissionDecision, { id }, PAGE_BY_ID) };
}

/**
 * Yields the ids of a table's rows in pages of up to `PAGE_ROWS_MAX` rows and `PAGE_BYTES_MAX` bytes. A larger row is
 * alone on its page. `order` must be a column that never changes and follows the account in an index; otherwise the
 * planner may read the rows of all other accounts for a page.
 */
async function* sizedPages(
  em: () => EntityManager,
  accountId: string,
  table: string,
  order: 'created_at' | 'at' | 'id' = 'created_at',
) {
  const [key, after] = order === 'id' ? ['r.id', '?::uuid'] : [`r.${order}, r.id`, '?::timestamptz, ?::uuid'];
  let rows: { id: string; at: string; size: number }[] = [];
  do {
    const { id, at } = rows.at(-1) ?? { id: LOWEST_ID, at: '-infinity' };
    rows = await em().execute(
      `select r.id, r.${order}::text as at, octet_length(to_json(r)::text) as size from ${table} r
        where r.account_id = ? and (${key}) > (${after}) order by ${key} limit ?`,
      [accountId, ...(order === 'id' ? [id] : [at, id]), PAGE_ROWS_MAX],
    );
    if (rows.length === 0) return;
    let page: string[] = [];
    let pageBytes = 0;
    for (const { id, size } of rows) {
      pageBytes += size;
      if (page.length > 0 && pageBytes > PAGE_BYTES_MAX) {
        yield { $in: page };
        page = [];
        pageBytes = size;
      }
      page.push(id);
    }
    yield { $in: page };
  } while (rows.length === PAGE_ROWS_MAX);
}

/** Yields links in pages, because a row may have hundreds. */
function linkPages(read: (range: LinkRange) => Promise<MemoryLink[]>) {
  const limit = LINK_PAGE_ROWS_MAX;
  return pages<MemoryLink>((after) => read({ limit, ...(after && { after }) }), limit);
}

function pagesById<Row extends { id: string }>(read: (after: { id?: { $gt: string } }) => Promise<Row[]>) {
  return pages<Row>((last) => read(last ? { id: { $gt: last.id } } : {}));
}

/** Yields pages of `size` rows, each after the last row of the one before. */
async function* pages<Row>(
  read: (last?: Row) => Promise<Row[]>,
  size = PAGE_ROWS_MAX,
): AsyncGenerator<Row[]> {
  let page: Row[] = [];
  do {
    page = await read(page.at(-1));
    if (page.length > 0) yield page;
  } while (page.length === size);
}

/** Bounds the pages in bytes too, so that large events do not fill the memory. */
async function* eventsOf(em: () => EntityManager, session: RecordingSession) {
  let after: Cursor | undefined;
  do {
    const page = { limit: PAGE_ROWS_MAX, sizeMax: PAGE_BYTES_MAX, bodiesMax: PAGE_BYTES_MAX, after };
    const { events, next } = await pageOfEvents(em(), session, page);
    yield events;
    after = next ?? undefined;
  } while (after !== undefined);
}
