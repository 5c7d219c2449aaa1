import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { setUp } from '../setup.ts';
import { signUp, type UserClient } from '../support/account.ts';
import { percentile } from '../support/keep-alive-client.ts';
import { callUntil } from '../support/paced-until.ts';
import { event, post } from '../support/recording.ts';
import { residentMb } from '../support/resident-memory.ts';
import { type System, startProcesses, type TestProcess } from '../support/system.ts';
import { askUnread } from '../support/unread.ts';

/** By hand, on an idle machine: 100 sockets ask for events of 8 MB and read nothing, for one person and for 25. */
const SOCKETS = 100;
const PEOPLE = [1, 25];
const EVENT_BYTES = 8_000_000;
const WATCH_MS = 40_000;
const LIMITS = { mb: 600, healthP99Ms: 100 };
/** Memory growth that counts as released. Measured under load: an idle process does not collect garbage. */
const LEFTOVER_MAX_MB = 100;
const RELEASE_TIMEOUT_MS = 60_000;

await using _ = await setUp();
await using system = await startProcesses({
  workers: 0,
  env: { RATE_LIMIT_RPS: '50', RATE_LIMIT_BURST: '100' },
});
const results = [];
for (const people of PEOPLE) results.push(await measure(system, people));
console.log(JSON.stringify(results, undefined, 2));
const isKept = results.every(
  ({ mb, healthMs, others }) =>
    mb.most < LIMITS.mb &&
    mb.releasedAfterS <= RELEASE_TIMEOUT_MS / 1000 &&
    healthMs.p99 < LIMITS.healthP99Ms &&
    Object.keys(others).join() === '200',
);
process.exitCode = isKept ? 0 : 1;

async function measure(at: System<TestProcess>, count: number) {
  const pid = at.webs[0]?.child.pid;
  const other = await signUp(at);
  const people: UserClient[] = [];
  for (let n = 0; n < count; n += 1) people.push(await withLargeEvent(at));
  await sleep(5000);
  const before = await residentMb(pid);
  const sockets = await Promise.all(
    Array.from({ length: SOCKETS }, (_, n) =>
      askUnread(people[n % people.length] as UserClient, '/api/recording/events/large/'),
    ),
  );
  const firstBytes = sockets.map((socket) => statusOf(socket));
  const samples = await callUntil(10, () => sample(at, other, pid), sleep(WATCH_MS));
  const sizes = samples.map(({ mb }) => mb);
  const times = samples.map(({ healthMs }) => healthMs);
  const releasedAfterS = await secondsUntilReleased(at, other, before + LEFTOVER_MAX_MB);
  for (const socket of sockets) socket.destroy();
  return {
    people: count,
    mb: { before, most: Math.max(...sizes), releasedAfterS },
    healthMs: { p50: Math.round(percentile(times, 0.5)), p99: Math.round(percentile(times, 0.99)) },
    unread: countNames(await Promise.all(firstBytes)),
    others: countNames(samples.map(({ status }) => `${status}`)),
  };
}

async function withLargeEvent(at: System<TestProcess>): Promise<UserClient> {
  const person = await signUp(at);
  const row = event({ id: 'large', type: 'custom.large', payload: { filler: 'x'.repeat(EVENT_BYTES) } });
  await post(person, [row]);
  return person;
}

/** Returns the status code, from the first bytes, which Node reads even from a paused socket. */
async function statusOf(socket: Socket): Promise<string> {
  await Promise.race([once(socket, 'readable'), once(socket, 'close')]);
  const chunk: Buffer | null = socket.read();
  return chunk?.toString('latin1', 9, 12) ?? 'closed';
}

async function sample({ webs: [web] }: System<TestProcess>, other: UserClient, pid: number | undefined) {
  const since = performance.now();
  await (await fetch(`${web?.url}/healthz`)).text();
  const healthMs = performance.now() - since;
  const { status } = await other.request('GET', '/api/connections/');
  return { healthMs, status, mb: await residentMb(pid) };
}

async function secondsUntilReleased(at: System<TestProcess>, other: UserClient, mb: number): Promise<number> {
  const since = performance.now();
  while (performance.now() - since < RELEASE_TIMEOUT_MS) {
    const seen = await sample(at, other, at.webs[0]?.child.pid);
    if (seen.mb < mb) return Math.round((performance.now() - since) / 1000);
    await sleep(100);
  }
  return Number.POSITIVE_INFINITY;
}

function countNames(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
