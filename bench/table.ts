import { type Cell, findCell, type Results } from './results.ts';
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

/** Formats the results for people: a table, and the latency that each target adds for a single caller. */
export function table({ cells, machine, versions, options }: Results): string {
  const callers = [...new Set(cells.map((cell) => cell.callers))];
  const groups = callers.map((count) =>
    cells.filter((cell) => cell.callers === count).map((cell) => row(cell, cells)),
  );
  const { postgres, redis } = versions;
  return [
    `${machine.cpus} × ${machine.model}, load ${machine.loadBefore.toFixed(2)} before the run; Node ${versions.node}, ` +
      `PostgreSQL ${postgres['server_version']} (synchronous_commit ${postgres['synchronous_commit']}, fsync ` +
      `${postgres['fsync']}), ${redis ? `Redis ${redis['server_version']}` : 'no Redis'}; ` +
      `medians of ${options.rounds} rounds of ${options.seconds} s each`,
    '',
    ...alignColumns([COLUMNS], ...groups),
    ...addedLatency(cells),
    ...comparisonWithRedis(cells),
  ].join('\n');
}

function row(cell: Cell, cells: Cell[]): string[] {
  const ratio = (to: 'naive' | 'direct') => {
    const other = findCell(cells, to, cell.callers);
    if (other === undefined || cell.target === 'client') return '';
    return (cell.callsPerSecond / other.callsPerSecond).toFixed(2);
  };
  return [
    TARGETS[cell.target].title,
    String(cell.callers),
    count(cell.callsPerSecond),
    `${count(Math.min(...cell.rounds))}-${count(Math.max(...cell.rounds))}`,
    cell.p50.toFixed(2),
    cell.p95.toFixed(2),
    cell.p99.toFixed(2),
    ratio('naive'),
    ratio('direct'),
    `${Math.round(cell.clientCpu * 100)} %`,
    Object.entries(cell.cpuMs)
      .map(([what, ms]) => `${what} ${ms.toFixed(2)}`)
      .join(', '),
  ];
}

function addedLatency(cells: Cell[]): string[] {
  const direct = findCell(cells, 'direct', 1);
  if (direct === undefined) return [];
  const others = cells.filter((cell) => cell.callers === 1 && !['client', 'direct'].includes(cell.target));
  return others.map(
    (cell) =>
      `added p50 over direct, one caller: ${(cell.p50 - direct.p50).toFixed(2)} ms, ${TARGETS[cell.target].title}`,
  );
}

/** Compares PostgreSQL alone with Redis. */
function comparisonWithRedis(cells: Cell[]): string[] {
  return cells.flatMap((cell) => {
    const redis = findCell(cells, 'forecue-redis', cell.callers);
    if (cell.target !== 'forecue-postgres' || redis === undefined) return [];
    const ratio = (cell.callsPerSecond / redis.callsPerSecond).toFixed(2);
    return [`PostgreSQL alone, ${cell.callers} callers: ${ratio} × Redis`];
  });
}

/**
 * Pads columns to their widest cell, names to the left and figures to the right; adds an empty line after each group.
 */
function alignColumns(...groups: string[][][]): string[] {
  const rows = groups.flat();
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)));
  const line = (cells: string[]) =>
    cells
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join('  ');
  return groups.flatMap((group) => [...group.map(line), '']);
}

const count = (value: number) => Math.round(value).toLocaleString('en');
