import type { Part, System } from './system.ts';

type WithDatabase = Pick<System, 'database'>;

/** Sets columns of a prediction's row, such as `expires_at = now()`, whether the prediction has ended or not. */
export async function alterRow(
  { database }: WithDatabase,
  app: { id: string },
  { request_id }: { request_id: string },
  assignments: string,
): Promise<void> {
  const live = await database.pool
    .query(`update work set ${assignments} where party = $1 and facts::json ->> 'requestId' = $2`, [
      app.id,
      request_id,
    ])
    .catch(() => ({ rowCount: 0 }));
  if (live.rowCount === 1) return;
  const past = await database.pool.query(
    `update history set ${assignments} where party = $1 and facts::json ->> 'requestId' = $2`,
    [app.id, request_id],
  );
  if (past.rowCount !== 1) throw new Error(`no row of ${request_id}`);
}

/** Ends a prediction's recovery window, as if it had been admitted and had ended a day ago. */
export async function expire(
  { database }: WithDatabase,
  { request_id }: { request_id: string },
): Promise<void> {
  const dayAgo = (Date.now() - 24 * 60 * 60 * 1000).toString(16).padStart(12, '0');
  await database.pool.query(
    `with past as (
       update history set expires_at = now() - interval '1 second' where facts::json ->> 'requestId' = $1 returning id
     )
     update answers a
        set expires_at = now() - interval '1 second',
            id = overlay(overlay(a.id::text placing left($2, 8) from 1 for 8) placing right($2, 4) from 10 for 4)::uuid
       from past where a.id = past.id`,
    [request_id, dayAgo],
  );
}

export async function alterApp(
  { database }: WithDatabase,
  app: { id: string },
  assignments: string,
): Promise<void> {
  await database.pool.query(`update apps set ${assignments} where id = $1`, [app.id]);
}

export async function ageDrafts({ database }: WithDatabase, days: number): Promise<void> {
  await database.pool.query('update drafts set updated_at = now() - make_interval(days => $1)', [days]);
}

/** Runs `work` while the parts are frozen, as on an overloaded machine; `work` must end before their leases do. */
export async function whileFrozen<T>(parts: readonly Part[], work: () => Promise<T>): Promise<T> {
  for (const part of parts) part.freeze(true);
  try {
    return await work();
  } finally {
    for (const part of parts) part.freeze(false);
  }
}
