import manifest from '../../package.json' with { type: 'json' };
import { atScrape, gauge } from './registry.ts';

const ready = gauge('forecue_ready', '1 while the process takes work, and its stores answer.');
const healthy = gauge('forecue_healthy', '0 when the process has been unable to do its work for 10 s.');
const build = gauge('forecue_build_info', 'The version that runs.', ['version', 'node']);

/** Observes the health of this process until it is closed. */
export function watchHealth(health: { healthy(): boolean; ready(): Promise<boolean> }): { close(): void } {
  return atScrape(async () => [
    [ready, Number(await health.ready().catch(() => false))],
    [healthy, Number(health.healthy())],
    [build, 1, { version: manifest.version, node: process.versions.node }],
  ]);
}
