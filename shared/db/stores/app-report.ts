import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { usageReport } from '../../domain/usage.ts';
import { catalogue, type ErrorCode } from '../../errors/catalogue.ts';
import { type AppDay, type AppDetail, AppResponse } from '../../schemas/apps.ts';
import { TOMBSTONE_DAYS } from '../../schemas/limits.ts';
import { present } from '../../schemas/present.ts';
import type { App, AppKey } from '../entities/app.ts';
import { Connection } from '../entities/connection.ts';
import { listKeys } from './apps.ts';
import { inForce } from './connections/change.ts';
import { type RefusalSummary, refusalsOf } from './refusals.ts';
import { readUsage } from './usage.ts';

interface Report {
  pool: Pool;
  em: EntityManager;
  sandboxUnits: number;
}

/** What an app's owner, or an operator, sees of it; undefined if there is no such app. */
export async function readAppReport(
  { pool, em, sandboxUnits }: Report,
  id: string,
): Promise<AppDetail | undefined> {
  const usage = await readUsage(em, id);
  if (usage === undefined) return undefined;
  const { app, month, counts } = usage;
  return {
    ...presentApp(app),
    keys: (await listKeys(em, id)).map(presentKey),
    used: usageReport(app, month, counts, sandboxUnits),
    days: await readDays(em, id),
    refused: (await refusalsOf(pool, id)).map(presentRefusals),
    people: await em.count(Connection, { app: id, ...inForce() }),
  };
}

/** Names the fields as `/v1` does. */
export function presentApp(app: App): AppResponse {
  return present(AppResponse, app, { app_id: app.id, monthly_cap_cents: app.capCents ?? null });
}

function presentKey({ prefix, createdAt, expiresAt }: AppKey) {
  return { prefix, created_at: createdAt.toISOString(), expires_at: expiresAt?.toISOString() ?? null };
}

function presentRefusals({ code, calls, lastAt }: RefusalSummary) {
  const means = Object.hasOwn(catalogue, code) ? catalogue[code as ErrorCode].message : null;
  return { code, calls, last_at: new Date(lastAt).toISOString(), means };
}

/** The units of a day are the difference to the day before; each month begins at none. */
function readDays(em: EntityManager, appId: string): Promise<AppDay[]> {
  return em.execute<AppDay[]>(
    `select to_char(day, 'YYYY-MM-DD') as date,
            settled - coalesce(lag(settled) over (partition by date_trunc('month', day) order by day), 0)
              as prediction_units
       from usage_days where app_id = ? and day > current_date - ${TOMBSTONE_DAYS} order by day`,
    [appId],
  );
}
