import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startBalancer } from './balancer.ts';
import { AppClient } from './client.ts';
import { delay, ok, startFakeProvider } from './fake-provider.ts';
import { exitOf } from './rolling-restart.ts';
import { COMMON_ENV, type TestProcess } from './system.ts';
import { type LoadObservations, underLoad } from './under-load.ts';
import type { Release, Version } from './version.ts';

const SERVICE_MS = 50;
const CALM_MS = 500;
const PROCESSES_PER_KIND = 2;

/** Three releases that add a column to the hot path's tables and write it, fill it in, and drop it again. */
export const EXPAND: Release = {
  up: ['alter table work add column trial text', 'alter table history add column trial text'],
  functions: `
    create or replace function trial_note() returns trigger language plpgsql as $$
    begin
      new.trial := new.party::text;
      return new;
    end $$;
    create or replace trigger trial before insert on history for each row execute function trial_note();`,
};
export const FILL: Release = {
  up: [
    `update history set trial = party::text
      where ctid in (select ctid from history where trial is null limit 1000) and trial is null`,
  ],
  functions: EXPAND.functions,
};
export const CONTRACT: Release = {
  up: [
    'drop trigger trial on history',
    'drop function trial_note()',
    'alter table history drop column trial',
    'alter table work drop column trial',
  ],
  functions: '',
};

export interface RollingUpgrade extends LoadObservations {
  exits: (number | string | null)[];
  migratedMs: number[];
}

/**
 * Takes two ingresses behind a balancer and two workers from each version to the next, under `perSecond` requests a
 * second: migrates, then replaces the workers and then the ingresses one by one. A successor starts before its
 * predecessor stops.
 */
export async function rollingUpgrade(
  [first, ...later]: [Version, ...Version[]],
  {
    databaseUrl,
    perSecond,
    env: more = {},
  }: { databaseUrl: string; perSecond: number; env?: Record<string, string> },
): Promise<RollingUpgrade> {
  const provider = await startFakeProvider();
  const balancer = await startBalancer();
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  const processes: TestProcess[] = [];
  const env = {
    ...COMMON_ENV,
    DATABASE_URL: databaseUrl,
    OPENAI_BASE_URL: provider.url,
    MAX_CONNECTIONS_PER_ADDRESS: '5000',
    SANDBOX_UNITS: '1000000',
    LEASE_MS: '3000',
    ...more,
  };
  const live: Record<'web' | 'worker', TestProcess[]> = { web: [], worker: [] };
  const start = async (version: Version, kind: 'web' | 'worker') => {
    const started = await version.launch(kind, env).ready();
    processes.push(started);
    live[kind].push(started);
    if (kind === 'web') balancer.add(started.url);
  };
  const exits: RollingUpgrade['exits'] = [];
  const migratedMs: number[] = [];
  const upgrade = async (version: Version) => {
    const since = performance.now();
    await version.migrate(env);
    migratedMs.push(Math.round(performance.now() - since));
    for (const kind of ['worker', 'web'] as const) {
      for (const predecessor of live[kind].splice(0)) {
        await start(version, kind);
        balancer.remove(predecessor.url);
        await predecessor.stop('SIGTERM');
        exits.push(exitOf(predecessor));
      }
    }
    await sleep(CALM_MS);
  };
  try {
    provider.respond(delay(SERVICE_MS, ok()));
    await first.migrate(env);
    for (let n = 0; n < PROCESSES_PER_KIND; n += 1)
      await Promise.all([start(first, 'web'), start(first, 'worker')]);
    const args = ['app', 'create', '--name', 'upgraded', '--redirect-uri', 'https://a.example', '--json'];
    const { app_id: id, key } = JSON.parse(await first.admin(args, env)) as { app_id: string; key: string };
    const app = new AppClient(id, key, balancer.url);
    const seen = await underLoad({ app, pool, provider }, perSecond, async () => {
      await sleep(CALM_MS);
      for (const version of later) await upgrade(version);
    });
    return { ...seen, exits, migratedMs };
  } finally {
    await balancer.close();
    await Promise.all(processes.map((one) => one.stop()));
    await provider.close();
    await pool.end();
  }
}
