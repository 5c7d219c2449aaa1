import type { EntityManager } from '@mikro-orm/postgresql';
import type { UsageCounts } from '../../domain/usage.ts';
import { App, Usage } from '../entities/app.ts';
import { oneRow } from '../rows.ts';

/** Reads an app and its usage in a month (`YYYY-MM`), by default the current one; undefined if there is no such app. */
export async function readUsage(
  em: EntityManager,
  appId: string,
  month?: string,
): Promise<{ app: App; month: string; counts: UsageCounts | undefined } | undefined> {
  const app = await em.findOne(App, { id: appId });
  if (app === null) return undefined;
  const chosenMonth = month ?? (await currentMonth(em));
  const counts = await em.findOne(Usage, { appId, month: chosenMonth }, { orderBy: { page: 'desc' } });
  return { app, month: chosenMonth, counts: counts ?? undefined };
}

/** Lists every app with its usage in a month (`YYYY-MM`), by default the current one. */
export async function listUsage(
  em: EntityManager,
  month?: string,
): Promise<{ app: App; month: string; counts: UsageCounts | undefined }[]> {
  const chosenMonth = month ?? (await currentMonth(em));
  const apps = await em.find(App, {}, { orderBy: { id: 'asc' } });
  const counts = await em.find(Usage, { month: chosenMonth });
  const byApp = new Map(counts.map((one) => [one.appId, one]));
  return apps.map((app) => ({ app, month: chosenMonth, counts: byApp.get(app.id) }));
}

/** In the form `YYYY-MM`, by the database's clock. */
export async function currentMonth(em: EntityManager): Promise<string> {
  return (await oneRow(em.execute<{ month: string }[]>('select month_of(now()) as month'))).month;
}
