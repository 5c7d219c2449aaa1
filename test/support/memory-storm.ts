import { setTimeout as sleep } from 'node:timers/promises';
import type { UserClient } from './account.ts';
import type { Reply } from './client.ts';
import type { HostedPart } from './hosted.ts';
import type { System } from './system.ts';

const SYNC = '/api/memory/sync/';
const PROMOTIONS = ['/api/memory/promote/episodes/', '/api/memory/promote/facts/'];

export async function settleMemory(person: UserClient): Promise<void> {
  await person.request('POST', SYNC, {});
  for (const path of PROMOTIONS) {
    for (;;) {
      const { status, body, text } = await person.request<{ considered: number }>('POST', path, {});
      if (status !== 200) throw new Error(`${path} was answered ${status} ${text}`);
      if (body.considered === 0) break;
    }
  }
}

export interface StormOptions {
  callers: number;
  /** Longest time until the next worker is killed; each wait is random. */
  killWithinMs: number;
}

/** Syncs and promotes an account many times at once, while workers are killed (kill -9) and replaced. */
export async function stormMemory(
  system: System<HostedPart>,
  person: UserClient,
  { callers, killWithinMs }: StormOptions,
): Promise<{ replies: Reply<unknown>[]; kills: number }> {
  const over = new AbortController();
  const calls = [SYNC, ...PROMOTIONS].flatMap((path) =>
    Array.from({ length: callers }, () => person.request('POST', path, {})),
  );
  const killCount = killWorkers(system, killWithinMs, over.signal);
  const replies = await Promise.all(calls).finally(() => over.abort());
  return { replies, kills: await killCount };
}

async function killWorkers(system: System<HostedPart>, withinMs: number, over: AbortSignal): Promise<number> {
  for (let kills = 0; ; kills += 1) {
    await sleep(Math.random() * withinMs, undefined, { signal: over }).catch(() => undefined);
    if (over.aborted) return kills;
    const [victim] = system.workers.splice(Math.floor(Math.random() * system.workers.length), 1);
    await Promise.all([victim?.kill(), system.startWorker()]);
  }
}
