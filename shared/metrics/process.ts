import manifest from '../../package.json' with { type: 'json' };
import { gauge, onScrape } from './registry.ts';

const readyGauge = gauge('forecue_ready', '1 while the process takes work, and its stores answer.');
const healthyGauge = gauge('forecue_healthy', '0 when the process has been unable to do its work for 10 s.');
const clockAheadGauge = gauge(
  'forecue_clock_ahead_seconds',
  "How far this machine's clock is ahead of the database's; negative: behind.",
);
const missingMigrationsGauge = gauge(
  'forecue_migrations_missing',
  'Migrations that the process waits for at its start.',
);
const buildGauge = gauge('forecue_build_info', 'The version that runs.', ['version', 'node']);

export function watchHealth(health: { isHealthy(): boolean; isReady(): Promise<boolean> }): {
  close(): void;
} {
  return onScrape(async () => [
    [readyGauge, Number(await health.isReady().catch(() => false))],
    [healthyGauge, Number(health.isHealthy())],
    [buildGauge, 1, { version: manifest.version, node: process.versions.node }],
  ]);
}

export function watchClock(clock: { readonly clockAheadMs: number }): { close(): void } {
  return onScrape(() => [[clockAheadGauge, clock.clockAheadMs / 1000]]);
}

export function watchMigrations(migrations: { readonly missing: number }): { close(): void } {
  return onScrape(() => [[missingMigrationsGauge, migrations.missing]]);
}
