import { predictionBody } from './client.ts';
import { delay, ok, when } from './fake-provider.ts';
import { type Answer, KeepAliveClient } from './keep-alive-client.ts';
import { measureNoise, type Noise } from './noise.ts';
import { callSteadily } from './steadily.ts';
import type { System } from './system.ts';

export interface TimedCall extends Answer {
  /** Time at which the call was sent. */
  at: number;
}

export interface Collapse {
  calls: TimedCall[];
  hungAt: number;
  recoveredAt: number;
  noise: Noise;
}

const HEALTHY_MS = 2000;
const HANGING_MS = 4500;
const RECOVERED_MS = 4000;

/** Calls `perSecond` times a second while the provider is healthy, then hangs, then recovers. */
export async function hangUnderLoad(
  system: System,
  { perSecond, serviceMs }: { perSecond: number; serviceMs: number },
): Promise<Collapse> {
  const app = await system.app();
  const client = new KeepAliveClient(app.key);
  const noise = measureNoise(app);
  const pendingCalls: Promise<TimedCall>[] = [];
  const ask = async () => {
    const at = performance.now();
    return { ...(await client.predict(app.url, predictionBody())), at };
  };
  const load = (forMs: number) => callSteadily(perSecond, forMs, () => pendingCalls.push(ask()));

  system.provider.respond(delay(serviceMs, ok()));
  await load(HEALTHY_MS);
  const recovery = Promise.withResolvers<void>();
  system.provider.respond(when(recovery.promise));
  const hungAt = performance.now();
  await load(HANGING_MS);
  recovery.resolve();
  system.provider.respond(delay(serviceMs, ok()));
  const recoveredAt = performance.now();
  await load(RECOVERED_MS);
  const calls = await Promise.all(pendingCalls);
  await noise.stop();
  client.close();
  return { calls, hungAt, recoveredAt, noise };
}

export function callsBetween(calls: TimedCall[], from: number, to: number): TimedCall[] {
  return calls.filter(({ at }) => at >= from && at < to);
}

export function refusedCalls(calls: TimedCall[]): TimedCall[] {
  return calls.filter(({ code }) => code === 'overloaded');
}
