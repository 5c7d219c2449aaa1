import type { Pool } from 'pg';
import { readDatabaseDisk } from '../db/disk.ts';
import { readInstallation } from '../db/stores/installation.ts';
import { readRounds } from '../db/stores/rounds.ts';
import { readLoad } from '../db/stores/work/load.ts';
import { desiredWorkers } from '../domain/scaling.ts';
import { gauge, onScrape, type Sample } from '../metrics/registry.ts';
import { type Kinds, kindNamed } from './kind.ts';
import { poolLoad } from './pool-load.ts';

/** Gauges of the whole installation: every process exports the same. */
const stepAgeGauge = gauge(
  'forecue_housekeeping_round_age_seconds',
  'Seconds since a step of the housekeeping last ended.',
  ['step'],
);
const queuedGauge = gauge('forecue_work_queued', 'Queued work, counted up to 1,000 pieces of a kind.', [
  'kind',
  'pool',
  'parties',
]);
const runningGauge = gauge('forecue_work_running', 'Running work.', ['kind', 'pool', 'parties']);
const oldestGauge = gauge(
  'forecue_work_oldest_seconds',
  'Seconds that the oldest queued piece of work has waited.',
  ['kind', 'pool', 'parties'],
);
const workersGauge = gauge('forecue_pool_workers', 'Living workers of a pool.', ['pool']);
const desiredGauge = gauge('forecue_pool_desired_workers', 'Workers that a pool should have.', ['pool']);
const slotsGauge = gauge('forecue_pool_slots', 'Slots of the living workers of a pool.', ['pool']);
const processesGauge = gauge('forecue_processes', 'Living processes, by their heartbeats.', ['kind']);
const erasingAccountsGauge = gauge('forecue_accounts_erasing', 'Accounts that are being erased.');
const oldestErasureGauge = gauge(
  'forecue_erasure_oldest_seconds',
  'Seconds since the oldest unfinished erasure of an account began.',
);
const unitsGauge = gauge('forecue_units_month', 'Prediction units of this month, of all apps.', ['state']);
const capUsedGauge = gauge(
  'forecue_app_cap_used_ratio',
  'Part of its cap for this month that an app has used: that of the app with the most.',
);
const backupAgeGauge = gauge('forecue_backup_age_seconds', 'Seconds since the latest `admin backup`.');
const deliveriesGauge = gauge(
  'forecue_webhook_deliveries',
  'Deliveries to webhooks that wait, and that failed in the last 24 hours; up to 10,000 are counted.',
  ['state'],
);
const overdueDeliveryGauge = gauge(
  'forecue_webhook_overdue_seconds',
  'Seconds for which the delivery has been due that has waited longest, of webhooks that do not fail.',
);
const sessionsGauge = gauge(
  'forecue_database_sessions',
  'Open sessions of PostgreSQL, including those of other programs.',
);
const maxSessionsGauge = gauge(
  'forecue_database_sessions_most',
  'Maximum number of PostgreSQL sessions of roles that are not superusers.',
);
const diskFreeGauge = gauge(
  'forecue_database_disk_free_bytes',
  'Free bytes on the disk of PostgreSQL, if it runs on the same machine.',
);
const diskSizeGauge = gauge(
  'forecue_database_disk_size_bytes',
  'Size in bytes of the disk of PostgreSQL, if it runs on the same machine.',
);

export interface TableSources {
  pool: Pool;
  directUrl: string;
  kinds: Kinds;
}

export function watchTables(sources: TableSources): { close(): void } {
  // Two readers, so that a scrape that gives up waiting for the tables still reports the housekeeping.
  const rounds = onScrape(async () =>
    (await readRounds(sources.pool)).flatMap(({ step, ageS }): Sample[] =>
      ageS === null ? [] : [[stepAgeGauge, ageS, { step }]],
    ),
  );
  const tables = onScrape(async () => [
    ...(await loadSamples(sources)),
    ...(await installationSamples(sources.pool)),
    ...(await diskSamples(sources)),
  ]);
  return {
    close() {
      rounds.close();
      tables.close();
    },
  };
}

async function loadSamples({ pool, kinds }: TableSources): Promise<Sample[]> {
  const rows = await readLoad(pool, Object.values(kinds));
  const byPool = Map.groupBy(rows, (row) => kindNamed(kinds, row.kind).pool);
  return [
    ...rows.flatMap((row): Sample[] => {
      const { name, pool: poolName, parties } = kindNamed(kinds, row.kind);
      const labels = { kind: name, pool: poolName, parties };
      return [
        [queuedGauge, row.queued, labels],
        [runningGauge, row.running, labels],
        [oldestGauge, row.oldestMs / 1000, labels],
      ];
    }),
    ...[...byPool].flatMap(([name, ofPool]): Sample[] => {
      const load = poolLoad(ofPool);
      return [
        [workersGauge, load.workers, { pool: name }],
        [slotsGauge, load.slots, { pool: name }],
        [desiredGauge, desiredWorkers(load), { pool: name }],
      ];
    }),
  ];
}

async function installationSamples(pool: Pool): Promise<Sample[]> {
  const installation = await readInstallation(pool);
  return [
    [erasingAccountsGauge, installation.erasing],
    [oldestErasureGauge, installation.oldestErasureS],
    [sessionsGauge, installation.sessions],
    [maxSessionsGauge, installation.maxSessions],
    [unitsGauge, installation.reserved, { state: 'reserved' }],
    [unitsGauge, installation.settled, { state: 'settled' }],
    [deliveriesGauge, installation.pendingDeliveries, { state: 'pending' }],
    [deliveriesGauge, installation.failedDeliveries, { state: 'failed' }],
    [overdueDeliveryGauge, installation.overdueDeliveryS],
    ...known(capUsedGauge, installation.capUsed),
    ...known(backupAgeGauge, installation.backupS),
    ...Object.entries(installation.processes).map(
      ([kind, living]): Sample => [processesGauge, living, { kind }],
    ),
  ];
}

function known(ofGauge: Sample[0], value: number | null): Sample[] {
  return value === null ? [] : [[ofGauge, value]];
}

async function diskSamples({ pool, directUrl }: TableSources): Promise<Sample[]> {
  const disk = await readDatabaseDisk(pool, directUrl);
  if (disk === undefined) return [];
  return [
    [diskFreeGauge, disk.free],
    [diskSizeGauge, disk.size],
  ];
}
