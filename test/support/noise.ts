import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { call } from './client.ts';
import { percentile } from './keep-alive-client.ts';

const EVERY_MS = 50;

/** What the machine adds to a call just now, in milliseconds. */
export interface Noise {
  readonly slowest: number;
  /** The most that it adds to this share of the calls. */
  percentile(share: number): number;
  stop(): Promise<void>;
}

/**
 * Measures what a busy machine adds: how long a call of the same ingress takes that needs neither the database nor the
 * queue. Time limits in tests are on top of this.
 */
export function measureNoise({ url }: { url: string }): Noise {
  const took: number[] = [];
  let stopped = false;
  const measuring = (async () => {
    while (!stopped) {
      took.push((await call('GET', `${url}/healthz`)).tookMs);
      await sleep(EVERY_MS);
    }
  })();
  // A failure is reported by `stop`.
  measuring.catch(() => {});
  return {
    get slowest() {
      return Math.max(0, ...took);
    },
    percentile: (share) => percentile(took, share),
    async stop() {
      stopped = true;
      await measuring;
    },
  };
}

/** Half of the calls took so long at most, on top of the usual noise, and 95 of 100 on top of the worst. */
export function expectWithin(calls: readonly { tookMs: number }[], withinMs: number, noise: Noise): void {
  const took = calls.map(({ tookMs }) => tookMs);
  for (const [share, added] of [
    [0.5, noise.percentile(0.5)],
    [0.95, noise.slowest],
  ] as const) {
    const ms = percentile(took, share);
    assert.ok(ms < withinMs + added, `${share * 100} of 100 take up to ${ms} ms, with ${added} ms of noise`);
  }
}
