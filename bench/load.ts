import { randomBytes } from 'node:crypto';
import { Connection } from './connection.ts';
import { requestText } from './request.ts';

export interface Load {
  url: string;
  /** Keys of the apps; the callers are divided among them. */
  keys: string[];
  callers: number;
  warmUpMs: number;
  measureMs: number;
}

/** Times are milliseconds. */
export interface Measurement {
  callsPerSecond: number;
  /** Number of all calls, including those of the warm-up. */
  calls: number;
  p50: number;
  p95: number;
  p99: number;
  /** Number of calls not answered with 200 and `suggested`, including those of the warm-up. */
  failed: number;
  firstFault: string | undefined;
  /** CPU time of the generator itself, as a share of one core: near 1, the generator was the bottleneck. */
  clientCpu: number;
}

const RUN = randomBytes(6).toString('hex');
let calls = 0;

/** Runs a closed loop: each caller has a connection of its own and calls again as soon as it has an answer. */
async function measure({ url, keys, callers, warmUpMs, measureMs }: Load): Promise<Measurement> {
  const target = new URL('/v1/predictions', url);
  const from = performance.now() + warmUpMs;
  const until = from + measureMs;
  const times: number[] = [];
  const before = calls;
  const faults: string[] = [];

  async function keepCalling(caller: number): Promise<void> {
    const key = keys[caller % keys.length];
    const connection = new Connection(target, { authorization: `Bearer ${key}` });
    try {
      for (let since = performance.now(); since < until; ) {
        calls += 1;
        const answer = await connection.post(requestText(`${RUN}-${calls}`));
        const now = performance.now();
        if (!isSuggestion(answer)) faults.push(answer.slice(0, 1000));
        else if (now >= from && now < until) times.push(now - since);
        since = now;
      }
    } catch (error) {
      faults.push(String(error));
    } finally {
      connection.close();
    }
  }

  const callsUnderWay = Promise.all(Array.from({ length: callers }, (_, caller) => keepCalling(caller)));
  const clientCpu = await cpuShareBetween(from, until);
  await callsUnderWay;
  return {
    callsPerSecond: times.length / (measureMs / 1000),
    calls: calls - before,
    ...percentiles(times),
    failed: faults.length,
    firstFault: faults[0],
    clientCpu,
  };
}

function isSuggestion(answer: string): boolean {
  return answer.startsWith('HTTP/1.1 200 ') && answer.includes('"status":"suggested"');
}

async function cpuShareBetween(from: number, until: number): Promise<number> {
  await sleepUntil(from);
  const before = process.cpuUsage();
  const since = performance.now();
  await sleepUntil(until);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / (performance.now() - since);
}

function sleepUntil(time: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, time - performance.now())));
}

function percentiles(times: number[]): Pick<Measurement, 'p50' | 'p95' | 'p99'> {
  const sorted = Float64Array.from(times).sort();
  const percentile = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN;
  return { p50: percentile(0.5), p95: percentile(0.95), p99: percentile(0.99) };
}

process.on('message', async (load: Load) => {
  process.send?.(await measure(load));
});
process.send?.({ type: 'ready' });
