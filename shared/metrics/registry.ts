import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { within } from '../timing/within.ts';

/**
 * The metrics of this process, in one registry. Their series are bounded: a label is a route's pattern, a code of the table, a kind,
 * a pool or a configured model; never an id, and never a text from outside.
 */
const registry = new Registry();

/** Bounds of the buckets in seconds, from a statement on an idle machine to the longest deadline. */
const SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120];
/** The longest that a scrape waits for one of its reads. */
const READ_WITHIN_MS = 2000;

type Labels = Readonly<Record<string, string>>;

/** The value of a gauge at a scrape. */
export type Sample = readonly [gauge: Gauge, value: number, labels?: Labels];
/** Reads gauges, at each scrape. */
type Read = () => readonly Sample[] | Promise<readonly Sample[]>;

const gauges: Gauge[] = [];
const reads = new Set<Read>();
let underWay: Promise<string> | undefined;

/** Declares what only grows. */
export function counter<Label extends string>(
  name: `forecue_${string}_total`,
  help: string,
  labelNames: readonly Label[] = [],
): Counter<Label> {
  return new Counter({ name, help, labelNames, registers: [registry] });
}

/** Declares a distribution of times. */
export function histogram<Label extends string>(
  name: `forecue_${string}_seconds`,
  help: string,
  labelNames: readonly Label[],
): Histogram<Label> {
  return new Histogram({ name, help, labelNames, buckets: SECONDS, registers: [registry] });
}

/** Declares a distribution of sizes. */
export function sizes<Label extends string>(
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

/** Declares what goes up and down. It has the values that were read for the scrape, and no series where nothing was. */
export function gauge(name: `forecue_${string}`, help: string, labelNames: readonly string[] = []): Gauge {
  const declared = new Gauge({ name, help, labelNames: [...labelNames], registers: [registry] });
  gauges.push(declared);
  return declared;
}

/** Reads these gauges at each scrape, until it is closed. The samples of several readers add up. */
export function atScrape(read: Read): { close(): void } {
  reads.add(read);
  return { close: () => void reads.delete(read) };
}

const failedReads = counter(
  'forecue_metric_reads_failed_total',
  'Reads for a scrape that failed or took too long.',
);

export const METRICS_TYPE = registry.contentType;

/** The metrics as text. Scrapes at the same time share one. */
export function scrape(): Promise<string> {
  underWay ??= collect().finally(() => {
    underWay = undefined;
  });
  return underWay;
}

async function collect(): Promise<string> {
  const samples = await Promise.all([...reads].map(inTime));
  for (const one of gauges) {
    one.reset();
    // One without labels would be 0 where nobody reads it.
    one.remove({});
  }
  for (const [of, value, labels = {}] of samples.flat()) of.inc(labels, value);
  return registry.metrics();
}

async function inTime(read: Read): Promise<readonly Sample[]> {
  try {
    return await within(
      READ_WITHIN_MS,
      async () => read(),
      () => new Error('late'),
    );
  } catch {
    failedReads.inc();
    return [];
  }
}

let hasProcess = false;

/** Adds what is known of any Node process: its CPU time, memory, event loop and descriptors. */
export function observeProcess(): void {
  if (!hasProcess) collectDefaultMetrics({ register: registry });
  hasProcess = true;
}
