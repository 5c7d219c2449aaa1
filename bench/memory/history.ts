import type { Pool } from 'pg';

export interface History {
  accounts: string[];
  facts: { account: string; text: string }[];
  episodes: { account: string; text: string }[];
  raw: { account: string; text: string }[];
}

const ROWS_PER_INSERT = 5000;
const TABLES = ['raw_memories', 'episodes', 'facts'];

/** Stores a history, oldest first: facts over the last year, episodes and raw rows over the last `days`. */
export async function store(pool: Pool, history: History, days: number): Promise<void> {
  const indexes = await dropIndexes(pool);
  await inParts(history.accounts, (ids) =>
    pool.query(
      `insert into accounts (id, email, email_key, password_hash, created_at, updated_at)
       select id, id || '@example.com', id || '@example.com', '', now(), now() from unnest($1::uuid[]) id`,
      [ids],
    ),
  );
  await storeTier(
    pool,
    history.facts,
    365,
    (rows) => `
    insert into facts (id, account_id, text, tags, recorded_at, created_at, updated_at)
    select id_at(at), account, text, '{}', at, at, at from ${rows}`,
  );
  await storeTier(
    pool,
    history.episodes,
    days,
    (rows) => `
    insert into episodes (id, account_id, title, summary, started_at, ended_at, origin, tags, created_at, updated_at)
    select id_at(at), account, left(text, 40), text, at, at, 'model', '{}', at, at from ${rows}`,
  );
  await storeTier(
    pool,
    history.raw,
    days,
    (rows) => `
    insert into raw_memories (id, account_id, content, kind, role, origin, source, occurred_at, tags, metadata, created_at)
    select id_at(at), account, text, 'reply', 'human', 'human', 'bench', at, '{}', '{}', at from ${rows}`,
  );
  for (const index of indexes) await pool.query(index);
  await pool.query('vacuum analyze');
}

async function storeTier(
  pool: Pool,
  tier: { account: string; text: string }[],
  days: number,
  insert: (rows: string) => string,
): Promise<void> {
  // Builds a UUIDv7 of a moment.
  await pool.query(`create or replace function id_at(at timestamptz) returns uuid language sql as $$
    select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7'
      || right(replace(gen_random_uuid()::text, '-', ''), 19))::uuid $$`);
  const stepS = (days * 86_400) / tier.length;
  let stored = 0;
  await inParts(tier, async (part) => {
    const rows = `(
      select account, text, now() - make_interval(secs => ($3::float8 - n) * $4::float8) as at
        from unnest($1::uuid[], $2::text[]) with ordinality r (account, text, n)) r`;
    await pool.query(insert(rows), [
      part.map(({ account }) => account),
      part.map(({ text }) => text),
      tier.length - stored,
      stepS,
    ]);
    stored += part.length;
  });
}

async function dropIndexes(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ indexname: string; indexdef: string }>(
    `select indexname, indexdef from pg_indexes where tablename = any ($1) and indexname not like '%_pkey'`,
    [TABLES],
  );
  for (const { indexname } of rows) await pool.query(`drop index ${indexname}`);
  return rows.map(({ indexdef }) => indexdef);
}

async function inParts<Item>(
  items: readonly Item[],
  store: (part: Item[]) => Promise<unknown>,
): Promise<void> {
  for (let at = 0; at < items.length; at += ROWS_PER_INSERT)
    await store(items.slice(at, at + ROWS_PER_INSERT));
}
