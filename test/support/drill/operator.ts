import { readFileSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { adminResult, runAdmin } from '../admin.ts';
import type { FiringAlert } from '../prometheus.ts';
import { until } from '../until.ts';
import { NEW_KEY } from './faults.ts';
import type { Installation, ProcessName } from './installation.ts';

const RUNBOOK = readFileSync('docs/runbook.md', 'utf8');

/** Returns the page of the runbook to which the anchor of this address leads; undefined if there is none. */
export function pageOf(runbook: string): string | undefined {
  const anchor = runbook.split('#')[1];
  return RUNBOOK.split(/^## /m).find(
    (page) => page.split('\n', 1).join().toLowerCase().replaceAll(' ', '-') === anchor,
  );
}

export async function consultDoctor({ system }: Installation): Promise<string[]> {
  const { stdout } = await runAdmin(['doctor', '--json'], system.env);
  const { checks } = JSON.parse(stdout) as { checks: { ok: boolean; found: string }[] };
  return checks.flatMap(({ ok, found }) => (ok ? [] : found));
}

/** Everything that the operator knows: a firing alert, and the findings of `doctor`, but not the fault. */
interface Case {
  installation: Installation;
  alert: FiringAlert;
  findings: readonly string[];
}

/** An action that a page of the runbook lists under "Do": `words` are quoted from the page, `apply` does it. */
interface Remedy {
  words: string;
  apply(one: Case): Promise<unknown>;
}

/** Remedies by alert, the most specific alert first. */
export const REMEDIES: Readonly<Record<string, (one: Case) => Remedy>> = {
  ForecueProviderRefusesKey: () => ({
    words: 'set `OPENAI_API_KEY`',
    apply: ({ installation }) => restartWorkers(installation, { OPENAI_API_KEY: NEW_KEY }),
  }),
  ForecueMigrationsMissing: () => ({
    words: '`npm run migrate`',
    apply: ({ installation }) => migrate(installation),
  }),
  ForecueClockOff: () => ({
    words: 'time synchronisation',
    apply: ({ installation, alert }) => installation.restart(alert.labels['instance'] as ProcessName),
  }),
  ForecueConnectionsRunOut: () => ({
    words: 'select pg_terminate_backend(pid)',
    apply: ({ installation }) => endStrangers(installation.server.url),
  }),
  ForecueDiskFull: () => ({
    words: 'remove what does not belong there',
    apply: ({ installation }) => removeStrangers(installation.disk),
  }),
  ForecueProcessDown: () => ({
    words: '`kill -9`',
    apply: ({ installation, alert }) => installation.restart(alert.labels['instance'] as ProcessName),
  }),
  ForecueFlood: () => ({
    words: '`admin app deactivate APP_ID`',
    apply: ({ installation }) => deactivateLoudestApp(installation),
  }),
  ForecueNotReady: ({ findings }) =>
    findings.some((found) => found.includes('read-only replica'))
      ? {
          words: '`redis-cli replicaof no one`',
          apply: ({ installation }) => installation.redis.follow(undefined),
        }
      : { words: 'bring the store back', apply: ({ installation }) => installation.redis.start() },
  ForecueTimeouts: () => ({
    words: '`FALLBACK_MODELS`',
    apply: ({ installation }) => restartWorkers(installation, { FALLBACK_MODELS: 'fake-fallback' }),
  }),
};

async function restartWorkers(installation: Installation, env: Record<string, string>): Promise<void> {
  for (const name of ['worker-1', 'worker-2'] as const) await installation.restart(name, env);
}

/** Runs the release step, which must fail because a table is in its way. Drops the table, and runs the step again. */
async function migrate({ system, release }: Installation): Promise<void> {
  const step = () => release().migrate(system.env);
  const failed = await step().then(
    () => undefined,
    ({ message }: Error) => message,
  );
  const [, table] = /relation "(\w+)" already exists/.exec(failed ?? '') ?? [];
  if (table === undefined) throw new Error(`the release step says nothing of a table: ${failed}`);
  await system.database.pool.query(`drop table ${pg.escapeIdentifier(table)}`);
  await step();
}

/** Ends the sessions of the foreign program that has the most, through a reserved superuser session. */
async function endStrangers(server: string): Promise<void> {
  const client = await until(() => tryConnect(server));
  try {
    await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = (
          select application_name from pg_stat_activity
           where backend_type = 'client backend' and application_name not like 'forecue%' and pid <> pg_backend_pid()
           group by 1 order by count(*) desc limit 1)`,
    );
  } finally {
    await client.end();
  }
}

async function tryConnect(server: string): Promise<pg.Client | undefined> {
  const client = new pg.Client({ connectionString: server });
  client.on('error', () => {});
  return client.connect().then(
    () => client,
    () => undefined,
  );
}

async function removeStrangers(disk: string): Promise<void> {
  for (const name of await readdir(disk)) if (!name.startsWith('postgres')) await rm(join(disk, name));
}

async function deactivateLoudestApp({ system: { env } }: Installation): Promise<void> {
  const apps: { app_id: string; refused_lately: number }[] = await adminResult(['app', 'list'], env);
  const [loudest] = apps.toSorted((a, b) => b.refused_lately - a.refused_lately);
  const id = loudest?.app_id ?? '';
  const { refused }: { refused: { code: string }[] } = await adminResult(['app', 'show', id], env);
  if (!refused.some(({ code }) => code === 'rate_limited')) throw new Error('it is not refused for its rate');
  await adminResult(['app', 'deactivate', id], env);
}
