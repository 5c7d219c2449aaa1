import type { EntityManager, Loaded } from '@mikro-orm/postgresql';
import { type Account, ServiceKey } from '../shared/db/entities/account.ts';
import { Connection } from '../shared/db/entities/connection.ts';
import { Fact, Profile } from '../shared/db/entities/memory.ts';
import { RecordingSession } from '../shared/db/entities/recording.ts';
import { type Cursor, pageOfEvents } from '../shared/db/stores/recording/read.ts';
import { sessionAnswer, storedEventJson } from '../shared/domain/recording.ts';
import type { ExportLine } from '../shared/schemas/accounts.ts';
import { presentKey, presentUser } from './routes/api/present-account.ts';

/** Rows that are in memory at once. */
const PAGE = 100;

/**
 * Everything of an account as JSON Lines: the account, its keys without what would be a credential, its connections, each
 * session followed by its events, its profile and its facts. Reads on only when what it gave was taken.
 */
export async function* exportAccount(em: () => EntityManager, account: Account): AsyncGenerator<string> {
  const id = account.id;
  yield line('account', presentUser(account));

  for await (const keys of pages((after) => em().find(ServiceKey, { account: id, ...after }, IN_ORDER)))
    yield keys.map((key) => line('key', presentKey(key))).join('');

  const withApp = { ...IN_ORDER, populate: ['app'] } as const;
  for await (const found of pages((after) => em().find(Connection, { account: id, ...after }, withApp)))
    yield found.map((connection) => line('connection', presentConnection(connection))).join('');

  const sessions = pages((after) => em().find(RecordingSession, { accountId: id, ...after }, IN_ORDER));
  for await (const found of sessions)
    for (const session of found) {
      yield line('session', sessionAnswer(session));
      for await (const events of eventsOf(em, session)) yield events;
    }

  const profile = await em().findOne(Profile, { account: id });
  if (profile !== null) yield line('profile', presentProfile(profile));
  for await (const facts of pages((after) => em().find(Fact, { account: id, ...after }, IN_ORDER)))
    yield facts.map((fact) => line('fact', presentFact(fact))).join('');
}

const IN_ORDER = { orderBy: { id: 'asc' }, limit: PAGE } as const;

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

/** A session's events; a page of them is small, however large they are. */
async function* eventsOf(em: () => EntityManager, session: RecordingSession): AsyncGenerator<string> {
  let after: Cursor | undefined;
  do {
    const { events, next } = await pageOfEvents(em(), session, { limit: PAGE, after });
    // As it was posted: it is JSON already.
    yield events.map((event) => `{"type":"event","data":${storedEventJson(event)}}\n`).join('');
    after = next ?? undefined;
  } while (after !== undefined);
}

function line(type: string, data: ExportLine['data']): string {
  return `${JSON.stringify({ type, data } satisfies ExportLine)}\n`;
}

function presentConnection({
  id,
  app,
  userId,
  status,
  createdAt,
  grantedAt,
  revokedAt,
}: Loaded<Connection, 'app'>) {
  return {
    connection_id: id,
    app_name: app.name,
    user_id: userId,
    status,
    created_at: createdAt,
    granted_at: grantedAt,
    revoked_at: revokedAt ?? null,
  };
}

function presentProfile({ data, summary, revision, createdAt, updatedAt }: Profile) {
  return { data, summary, revision, created_at: createdAt, updated_at: updatedAt };
}

function presentFact(fact: Fact) {
  return {
    id: fact.id,
    text: fact.text,
    kind: fact.kind ?? null,
    tags: fact.tags,
    confidence: fact.confidence,
    episode_ids: fact.episodeIds,
    valid_from: fact.validFrom ?? null,
    valid_to: fact.validTo ?? null,
    superseded_by: fact.supersededBy ?? null,
    pinned: fact.pinned,
    model: fact.model ?? null,
    created_at: fact.createdAt,
    updated_at: fact.updatedAt,
  };
}
