import { availableParallelism, cpus, loadavg } from 'node:os';
import type { Measurement } from './load.ts';
import type { Options } from './options.ts';
import type { TargetName } from './targets.ts';

/** Figures that are measured in each round, and reported as the median over the rounds. */
type Figure = 'callsPerSecond' | 'p50' | 'p95' | 'p99' | 'clientCpu';

export interface TargetResult extends Pick<Measurement, Figure> {
  target: TargetName;
  callers: number;
  /** CPU time per call, by the role of the process. */
  cpuMs: Record<string, number>;
  /** Calls per second in each round, which show the machine's noise. */
  rounds: number[];
}

export interface Results {
  date: string;
  command: string;
  machine: { cpus: number; model: string; loadBefore: number };
  versions: { node: string; postgres: Record<string, string>; redis: Record<string, string> | null };
  options: Omit<Options, 'partial' | 'long' | 'peers'>;
  cells: TargetResult[];
}

/** Call it before the load begins. */
export function machine(): Results['machine'] {
  const [load = 0] = loadavg();
  return { cpus: availableParallelism(), model: cpus()[0]?.model ?? 'unknown', loadBefore: load };
}

export interface MeasuredRound extends Measurement {
  /** CPU time per call, by the role of the process. */
  cpuMs: Record<string, number>;
}

export function mapValues<In, Out>(
  all: Record<string, In>,
  of: (one: In, name: string) => Out,
): Record<string, Out> {
  return Object.fromEntries(Object.entries(all).map(([name, one]) => [name, of(one, name)]));
}

export function targetResultOf(target: TargetName, callers: number, measured: MeasuredRound[]): TargetResult {
  const medianOf = (figure: Figure) => median(measured.map((measurement) => measurement[figure]));
  return {
    target,
    callers,
    callsPerSecond: medianOf('callsPerSecond'),
    p50: medianOf('p50'),
    p95: medianOf('p95'),
    p99: medianOf('p99'),
    clientCpu: medianOf('clientCpu'),
    cpuMs: mapValues(measured[0]?.cpuMs ?? {}, (_, what) =>
      median(measured.map(({ cpuMs }) => cpuMs[what] ?? 0)),
    ),
    rounds: measured.map(({ callsPerSecond }) => callsPerSecond),
  };
}

export function findTargetResult(
  results: TargetResult[],
  target: TargetName,
  callers: number,
): TargetResult | undefined {
  return results.find((result) => result.target === target && result.callers === callers);
}

/** Rounds to three decimals. */
export function resultsText(results: Results): string {
  const rounded = (_key: string, value: unknown) =>
    typeof value === 'number' ? Math.round(value * 1000) / 1000 : value;
  return `${JSON.stringify(results, rounded, 2)}\n`;
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}
