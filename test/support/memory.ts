import { newId } from '../../shared/ids.ts';
import type {
  DeletionReceipt,
  EpisodeResponse,
  FactResponse,
  RawMemoryResponse,
} from '../../shared/schemas/memory.ts';
import type { UserClient } from './account.ts';
import type { System } from './system.ts';

type WithDatabase = Pick<System, 'database'>;

const DAY = '2026-05-01T12:00:00Z';

interface Rows {
  raw: RawMemoryResponse;
  episodes: EpisodeResponse;
  facts: FactResponse;
}

export async function add<Tier extends keyof Rows>(
  person: UserClient,
  tier: Tier,
  row: object,
): Promise<Rows[Tier]> {
  const dates = tier === 'episodes' ? { started_at: DAY, ended_at: DAY } : {};
  const { status, text, body } = await person.request<Rows[Tier]>('POST', `/api/memory/${tier}/`, {
    ...dates,
    ...row,
  });
  if (status !== 201) throw new Error(`adding was answered ${status} ${text}`);
  return body;
}

export async function forget(
  person: UserClient,
  tier: keyof Rows,
  { id }: { id: string },
  query = '',
): Promise<DeletionReceipt> {
  const { status, text, body } = await person.request<DeletionReceipt>(
    'DELETE',
    `/api/memory/${tier}/${id}/${query}`,
  );
  if (status !== 200) throw new Error(`deleting was answered ${status} ${text}`);
  return body;
}

/** Adds a row to every table of memory except the profiles. */
export async function fillMemoryTables(system: WithDatabase, person: UserClient): Promise<void> {
  const synced = await addSynced(system, person, { content: 'from an event', event_id: newId() });
  // Deleting a synced row leaves a tombstone.
  await forget(person, 'raw', synced);
  const said = await add(person, 'raw', { content: 'I like tea', kind: 'reply' });
  const episode = await add(person, 'episodes', { title: 'Tea', summary: 'About tea', raw_ids: [said.id] });
  await add(person, 'facts', { text: 'likes tea', episode_ids: [episode.id] });
}

/** Adds a raw row as synchronisation makes it from a recorded event. */
export async function addSynced(
  { database }: WithDatabase,
  account: { id: string },
  part: { content: string; event_id: string },
): Promise<{ id: string }> {
  const id = newId();
  await database.pool.query(
    `insert into raw_memories (id, account_id, content, kind, role, origin, source, event_id, occurred_at, tags, metadata, created_at)
     values ($1, $2, $3, 'reply', 'human', 'human', 'test', $4, now(), '{}', '{}', now())`,
    [id, account.id, part.content, part.event_id],
  );
  return { id };
}

export async function quote(
  { database }: WithDatabase,
  account: { id: string },
  fact: { id: string },
  source: { id: string; content: string },
): Promise<void> {
  await database.pool.query(
    `insert into memory_links (account_id, from_id, to_id, relation, from_tier, to_tier, quote)
     values ($1, $2, $3, 'derived_from', 'fact', 'raw', $4)`,
    [account.id, fact.id, source.id, source.content.slice(0, 240)],
  );
}

export async function addFact(
  { database }: WithDatabase,
  account: { id: string },
  part: Record<string, unknown>,
): Promise<void> {
  const fact = {
    confidence: 1,
    pinned: false,
    valid_from: null,
    valid_to: null,
    superseded_by: null,
    ...part,
  };
  await database.pool.query(
    `insert into facts (id, account_id, text, tags, confidence, valid_from, valid_to, superseded_by, pinned,
                        created_at, updated_at)
     select $1, $2, f.text, coalesce(f.tags, '{}'), f.confidence, f.valid_from, f.valid_to, f.superseded_by, f.pinned, now(), now()
       from json_populate_record(null::facts, $3) f`,
    [newId(), account.id, JSON.stringify(fact)],
  );
  await countChange({ database }, account);
}

export async function setProfile(
  { database }: WithDatabase,
  account: { id: string },
  summary: string,
  data: object,
): Promise<void> {
  await database.pool.query(
    `insert into profiles (account_id, summary, data, created_at, updated_at) values ($1, $2, $3, now(), now())
     on conflict (account_id) do update set summary = excluded.summary, data = excluded.data`,
    [account.id, summary, JSON.stringify(data)],
  );
  await countChange({ database }, account);
}

async function countChange({ database }: WithDatabase, account: { id: string }): Promise<void> {
  await database.pool.query('update accounts set memory_revision = memory_revision + 1 where id = $1', [
    account.id,
  ]);
}
