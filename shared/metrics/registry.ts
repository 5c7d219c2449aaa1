import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { withTimeout } from '../timing/within.ts';

/**
 * The number of series is bounded: a label takes its values from a known set, such as route patterns, error codes or
 * kinds, never an id or a text from outside.
 */
const registry = new Registry();

/** Bounds of the buckets in seconds: from a statement on an idle machine to the longest default deadline. */
const DURATION_BUCKETS_S = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120];
const READ_TIMEOUT_MS = 2000;

type Labels = Readonly<Record<string, string>>;

export type Sample = readonly [gauge: Gauge, value: number, labels?: Labels];
type ReadSamples = () => readonly Sample[] | Promise<readonly Sample[]>;

const gauges: Gauge[] = [];
const readers = new Set<ReadSamples>();
let currentScrape: Promise<string> | undefined;

export function counter<Label extends string>(
  name: `forecue_${string}_total`,
  help: string,
  labelNames: readonly Label[] = [],
): Counter<Label> {
  return new Counter({ name, help, labelNames, registers: [registry] });
}

export function histogram<Label extends string>(
  name: `forecue_${string}_seconds`,
  help: string,
  labelNames: readonly Label[],
): Histogram<Label> {
  return new Histogram({ name, help, labelNames, buckets: DURATION_BUCKETS_S, registers: [registry] });
}

export function sizeHistogram<Label extends string>(
  name: `forecue_${string}_size`,
  help: string,
  labelNames: readonly Label[],
): Histogram<Label> {
  return new Histogram({
    name,
    help,
    labelNames,
    buckets: [1, 2, 4, 8, 16, 32, 64, 100],
    registers: [registry],
  });
}

/** Declares a gauge. A scrape omits it if no reader gives a value for it. */
export function gauge(name: `forecue_${string}`, help: string, labelNames: readonly string[] = []): Gauge {
  const newGauge = new Gauge({ name, help, labelNames: [...labelNames], registers: [registry] });
  gauges.push(newGauge);
  return newGauge;
}

/**
 * Calls `read` at each scrape, until the returned handle is closed. If several readers give a value for the same gauge
 * and labels, the values add up.
 */
export function onScrape(read: ReadSamples): { close(): void } {
  readers.add(read);
  return { close: () => void readers.delete(read) };
}

const failedReads = counter(
  'forecue_metric_reads_failed_total',
  'Reads for a scrape that failed or took too long.',
);

export const METRICS_TYPE = registry.contentType;

/** Concurrent scrapes share one collection. */
export function scrape(): Promise<string> {
  currentScrape ??= collect().finally(() => {
    currentScrape = undefined;
  });
  return currentScrape;
}

async function collect(): Promise<string> {
  const samples = await Promise.all([...readers].map(readInTime));
  for (const one of gauges) {
    one.reset();
    // Without `remove`, a gauge without labels would be reported as 0 even if no reader gave a value.
    one.remove({});
  }
  for (const [target, value, labels = {}] of samples.flat()) target.inc(labels, value);
  return registry.metrics();
}

async function readInTime(read: ReadSamples): Promise<readonly Sample[]> {
  try {
    return await withTimeout(
      READ_TIMEOUT_MS,
      async () => read(),
      () => new Error('late'),
    );
  } catch {
    failedReads.inc();
    return [];
  }
}

/**
 * Interval of the timer whose delay is measured. With prom-client's 10 ms, it alone takes an idle process half a
 * percent of a core.
 */
const EVENT_LOOP_PRECISION_MS = 100;
let isProcessObserved = false;

export function observeProcess(): void {
  if (!isProcessObserved)
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_PRECISION_MS });
  isProcessObserved = true;
}
