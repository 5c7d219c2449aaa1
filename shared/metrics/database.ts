import { gauge, onScrape } from './registry.ts';

const connectionsGauge = gauge(
  'forecue_database_connections',
  'Open connections of a pool of this process.',
  ['pool', 'state'],
);
const waitingGauge = gauge('forecue_database_waiting', 'Statements that wait for a connection of a pool.', [
  'pool',
]);

interface Connections {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
}

export function watchConnections(name: string, pool: Connections): { close(): void } {
  return onScrape(() => [
    [connectionsGauge, pool.totalCount - pool.idleCount, { pool: name, state: 'busy' }],
    [connectionsGauge, pool.idleCount, { pool: name, state: 'idle' }],
    [waitingGauge, pool.waitingCount, { pool: name }],
  ]);
}
