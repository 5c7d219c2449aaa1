import type { System, TestProcess } from './system.ts';

type In = Pick<System, 'database'>;

/** Sets columns of a prediction's row behind the product's back, such as `expires_at = now()`. */
export async function alterRow(
  { database }: In,
  app: { id: string },
  { request_id }: { request_id: string },
  assignments: string,
): Promise<void> {
  const { rowCount } = await database.pool.query(
    `update predictions set ${assignments} where app_id = $1 and request_id = $2`,
    [app.id, request_id],
  );
  if (rowCount !== 1) throw new Error(`no row of ${request_id}`);
}

/** Changes an app, as its operator might: `plan = 'paid'`. */
export async function alterApp({ database }: In, app: { id: string }, assignments: string): Promise<void> {
  await database.pool.query(`update apps set ${assignments} where id = $1`, [app.id]);
}

/** Moves what is remembered of the app's sessions to `days` ago. */
export async function ageSessions({ database }: In, app: { id: string }, days: number): Promise<void> {
  await database.pool.query(
    `update prediction_sessions set updated_at = now() - make_interval(days => $2) where app_id = $1`,
    [app.id, days],
  );
}

/** Does `work` while the processes stand still, as on a machine that is overloaded; their leases outlive it. */
export async function whileFrozen<T>(processes: TestProcess[], work: () => Promise<T>): Promise<T> {
  for (const process of processes) process.kill('SIGSTOP');
  try {
    return await work();
  } finally {
    for (const process of processes) process.kill('SIGCONT');
  }
}
