import type { System } from './system.ts';

/** Adds accounts, each with a failed sync, and returns the ids of the accounts in order. */
export async function addFailedSyncs({ database }: System, count: number): Promise<string[]> {
  const { rows } = await database.pool.query<{ party: string }>(
    `with a as (
       insert into accounts (id, email, email_key, password_hash, created_at, updated_at)
       select id, id, id, '', now(), now() from (select gen_random_uuid() as id from generate_series(1, $1)) n
       returning id)
     insert into history (
       id, kind, party, key, fingerprint, state, code, attempt, admission, admitted_at, ended_at, expires_at, facts)
     select gen_random_uuid(), 'sync', a.id, gen_random_uuid(), '', 'failed', 'job_timeout', 1, gen_random_uuid(),
            now(), now(), now(), '{}'
       from a returning party`,
    [count],
  );
  return rows.map(({ party }) => party).sort();
}

/** Adds a worker of the pool `memory` that lives for two minutes and claims nothing. */
export async function addIdleWorker({ database }: System): Promise<void> {
  await database.pool.query(
    `insert into processes (id, kind, alive_until, pools, settings)
     values (gen_random_uuid(), 'test', now() + interval '2 minutes',
             '{"memory": {"slots": 1, "claimed": 0, "stalledMs": 0}}', '{"version": "test"}')`,
  );
}
