import { newId } from '../../shared/ids.ts';
import type { System } from './system.ts';

type In = Pick<System, 'database'>;

/** A fact of the account, with what the test is about on top. */
export async function addFact(
  { database }: In,
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
    `insert into facts (id, account_id, text, tags, confidence, episode_ids, valid_from, valid_to, superseded_by, pinned,
                        created_at, updated_at)
     select $1, $2, f.text, '{}', f.confidence, '{}', f.valid_from, f.valid_to, f.superseded_by, f.pinned, now(), now()
       from json_populate_record(null::facts, $3) f`,
    [newId(), account.id, JSON.stringify(fact)],
  );
  await countChange({ database }, account);
}

/** The account's profile. */
export async function setProfile(
  { database }: In,
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

async function countChange({ database }: In, account: { id: string }): Promise<void> {
  await database.pool.query('update accounts set memory_revision = memory_revision + 1 where id = $1', [
    account.id,
  ]);
}
