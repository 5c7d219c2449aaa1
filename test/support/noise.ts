import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { call } from './client.ts';
import { percentile } from './keep-alive-client.ts';

const INTERVAL_MS = 50;

/** Delays that the machine has added to calls since the measurement began, in milliseconds. */
export interface Noise {
  readonly slowest: number;
  /** Returns the delay that this share of the calls does not exceed. */
  percentile(share: number): number;
  stop(): Promise<void>;
}

/** Measures the delay that a busy machine adds, by calls that need neither the database nor the queue. */
export function measureNoise({ url }: { url: string }): Noise {
  const times: number[] = [];
  let isStopped = false;
  const measurement = (async () => {
    while (!isStopped) {
      times.push((await call('GET', `${url}/healthz`)).tookMs);
      await sleep(INTERVAL_MS);
    }
  })();
  // Failures are reported by `stop`.
  measurement.catch(() => {});
  return {
    get slowest() {
      return Math.max(0, ...times);
    },
    percentile: (share) => percentile(times, share),
    async stop() {
      isStopped = true;
      await measurement;
    },
  };
}

/** Allows half of the calls the limit plus the usual noise, and 95 of 100 the limit plus the worst noise. */
export function expectWithin(calls: readonly { tookMs: number }[], withinMs: number, noise: Noise): void {
  const times = calls.map(({ tookMs }) => tookMs);
  for (const [share, added] of [
    [0.5, noise.percentile(0.5)],
    [0.95, noise.slowest],
  ] as const) {
    const ms = percentile(times, share);
    assert.ok(ms < withinMs + added, `${share * 100} of 100 take up to ${ms} ms, with ${added} ms of noise`);
  }
}
