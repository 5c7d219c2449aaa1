import { findTargetResult, type Results, type TargetResult } from './results.ts';
import { TARGETS } from './targets.ts';

const COLUMNS = [
  '',
  'callers',
  'calls/s',
  'min-max',
  'p50 ms',
  'p95 ms',
  'p99 ms',
  '× naive',
  '× direct',
  'client CPU',
  'CPU ms a call',
];

/** Formats the results: a table, the latency added over `direct` for one caller, and PostgreSQL against Redis. */
export function table({ cells: results, machine, versions, options }: Results): string {
  const callers = [...new Set(results.map((result) => result.callers))];
  const groups = callers.map((count) =>
    results.filter((result) => result.callers === count).map((result) => row(result, results)),
  );
  const { postgres, redis } = versions;
  return [
    `${machine.cpus} × ${machine.model}, load ${machine.loadBefore.toFixed(2)} before the run; Node ${versions.node}, ` +
      `PostgreSQL ${postgres['server_version']} (synchronous_commit ${postgres['synchronous_commit']}, fsync ` +
      `${postgres['fsync']}), ${redis ? `Redis ${redis['server_version']}` : 'no Redis'}; ` +
      `medians of ${options.rounds} rounds of ${options.seconds} s each`,
    '',
    ...alignColumns([COLUMNS], ...groups),
    ...addedLatency(results),
    ...comparisonWithRedis(results),
  ].join('\n');
}

function row(result: TargetResult, results: TargetResult[]): string[] {
  const ratio = (to: 'naive' | 'direct') => {
    const other = findTargetResult(results, to, result.callers);
    if (other === undefined || result.target === 'client') return '';
    return (result.callsPerSecond / other.callsPerSecond).toFixed(2);
  };
  return [
    TARGETS[result.target].title,
    String(result.callers),
    formatNumber(result.callsPerSecond),
    `${formatNumber(Math.min(...result.rounds))}-${formatNumber(Math.max(...result.rounds))}`,
    result.p50.toFixed(2),
    result.p95.toFixed(2),
    result.p99.toFixed(2),
    ratio('naive'),
    ratio('direct'),
    `${Math.round(result.clientCpu * 100)} %`,
    Object.entries(result.cpuMs)
      .map(([what, ms]) => `${what} ${ms.toFixed(2)}`)
      .join(', '),
  ];
}

function addedLatency(results: TargetResult[]): string[] {
  const direct = findTargetResult(results, 'direct', 1);
  if (direct === undefined) return [];
  const others = results.filter(
    (result) => result.callers === 1 && !['client', 'direct'].includes(result.target),
  );
  return others.map(
    (result) =>
      `added p50 over direct, one caller: ${(result.p50 - direct.p50).toFixed(2)} ms, ${TARGETS[result.target].title}`,
  );
}

function comparisonWithRedis(results: TargetResult[]): string[] {
  return results.flatMap((result) => {
    const redis = findTargetResult(results, 'forecue-redis', result.callers);
    if (result.target !== 'forecue-postgres' || redis === undefined) return [];
    const ratio = (result.callsPerSecond / redis.callsPerSecond).toFixed(2);
    return [`PostgreSQL alone, ${result.callers} callers: ${ratio} × Redis`];
  });
}

function alignColumns(...groups: string[][][]): string[] {
  const rows = groups.flat();
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)));
  const line = (cells: string[]) =>
    cells
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join('  ');
  return groups.flatMap((group) => [...group.map(line), '']);
}

const formatNumber = (value: number) => Math.round(value).toLocaleString('en');
