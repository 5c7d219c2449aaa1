import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { setUp } from '../setup.ts';
import { signUp } from '../support/account.ts';
import { type AppClient, predictionBody } from '../support/client.ts';
import { delay } from '../support/fake-provider.ts';
import { floodUploads } from '../support/flooder.ts';
import { emptyArrays, nestedArrays, postPacked, unfinishedRequest } from '../support/hostile-bodies.ts';
import { KeepAliveClient, percentile } from '../support/keep-alive-client.ts';
import { callUntil } from '../support/paced-until.ts';
import { residentMb } from '../support/resident-memory.ts';
import { type System, startProcesses, type TestProcess } from '../support/system.ts';

/** By hand, on an idle machine: hostile bodies hit one ingress while an app asks for predictions. */
const MIB = 1024 * 1024;
const ATTACK_MS = 10_000;
const HEALTH_P99_MS = 100;
const MEMORY_MAX_MB = 600;
const SLOWDOWN_MAX = 1.5;
/** Memory growth that counts as released. Measured under load: an idle process does not collect garbage. */
const LEFTOVER_MAX_MB = 100;
const RELEASE_TIMEOUT_MS = 60_000;
const SERVICE_MS = 100;

await using _ = await setUp();
await using system = await startProcesses({
  env: { RATE_LIMIT_RPS: '50', RATE_LIMIT_BURST: '100', SANDBOX_UNITS: '1000000' },
});
system.provider.respond(delay(SERVICE_MS));
const app = await system.app();
const url = app.url;
await measureDuring(app, sleep(5000));
const baseline = await measureDuring(app, sleep(10_000));
console.log('alone', baseline);

let isKept = true;
const attacks: Record<string, () => Promise<unknown>> = {
  'nested arrays on the waitlist, 47 a second': () => {
    const body = nestedArrays(256 * 1024);
    return callUntil(47, () => postPacked(url, '/api/auth/waitlist/', body), sleep(ATTACK_MS));
  },
  'empty arrays on recording, 12 at a time': async () => {
    const { access } = await signUp(system);
    const body = emptyArrays(16 * MIB).packed;
    const post = () => postPacked(url, '/api/recording/events/', body, { access });
    return repeatAttack(() => Promise.all(Array.from({ length: 12 }, post)));
  },
  'the same behind noise, so that they are not packed too well': async () => {
    const { access } = await signUp(system);
    const noise = randomBytes(160 * 1024).toString('hex');
    const body = gzipSync(`["${noise}",${emptyArrays(15 * MIB).text}]`);
    const post = () => postPacked(url, '/api/recording/events/', body, { access });
    return repeatAttack(() => Promise.all(Array.from({ length: 12 }, post)));
  },
  'unfinished gzip on recording, 100 at once': () => holdUnfinished(100, Buffer.alloc(16 * MIB, ' ')),
  'unfinished gzip behind noise, 100 at once': () => {
    const noise = randomBytes(160 * 1024);
    return holdUnfinished(100, Buffer.concat([noise, Buffer.alloc(15 * MIB, ' ')]));
  },
};
// Accepted bodies take the database's time too, so these figures are shown without a limit.
const floods: typeof attacks = {
  'whole batches of 16 MiB, 12 at a time, of one account': () => floodAs(1),
  'the same, of 12 accounts': () => floodAs(12),
};
for (const [name, attack] of Object.entries({ ...attacks, ...floods })) {
  const before = await residentMemory(system);
  const attackEnd = attack();
  const figures = await measureDuring(app, attackEnd);
  const releasedAfterS = await secondsUntilReleased(app, before + LEFTOVER_MAX_MB);
  const slowdown = figures.predictionP95 / baseline.predictionP95;
  console.log(name, {
    ...figures,
    slowdown: slowdown.toFixed(2),
    before,
    releasedAfterS,
    ended: countAnswers(await attackEnd),
  });
  if (name in floods) continue;
  isKept &&= figures.healthP99 < HEALTH_P99_MS && figures.maxMb < MEMORY_MAX_MB;
  isKept &&= slowdown < SLOWDOWN_MAX && figures.refused === 0 && releasedAfterS <= RELEASE_TIMEOUT_MS / 1000;
}
process.exitCode = isKept ? 0 : 1;

/** Measures the app's calls and health checks, in ms, and the ingress's memory, in MB, until `done` settles. */
async function measureDuring(app: AppClient, done: Promise<unknown>) {
  const client = new KeepAliveClient(app.key);
  const [health, predictions, sizes] = await Promise.all([
    callUntil(20, () => checkHealth(app), done),
    callUntil(10, () => client.predict(app.url, predictionBody()), done),
    callUntil(10, () => residentMemory(system), done),
  ]);
  client.close();
  const times = predictions.map(({ tookMs }) => tookMs);
  return {
    healthP50: Math.round(percentile(health, 0.5)),
    healthP99: Math.round(percentile(health, 0.99)),
    healthMax: Math.round(Math.max(...health)),
    predictionP95: Math.round(percentile(times, 0.95)),
    refused: predictions.filter(({ status }) => status !== 200).length,
    maxMb: Math.max(...sizes),
  };
}

async function checkHealth({ url }: AppClient): Promise<number> {
  const since = performance.now();
  await (await fetch(`${url}/healthz`)).text();
  return performance.now() - since;
}

async function secondsUntilReleased(app: AppClient, mb: number): Promise<number> {
  const since = performance.now();
  while (performance.now() - since < RELEASE_TIMEOUT_MS) {
    if ((await residentMemory(system)) < mb) return Math.round((performance.now() - since) / 1000);
    await measureDuring(app, sleep(2000));
  }
  return Number.POSITIVE_INFINITY;
}

function residentMemory({ webs: [web] }: System<TestProcess>): Promise<number> {
  return residentMb(web?.child.pid);
}

async function repeatAttack<T>(attack: () => Promise<T[]>): Promise<T[]> {
  const until = performance.now() + ATTACK_MS;
  const all: T[] = [];
  while (performance.now() < until) all.push(...(await attack()));
  return all;
}

/** Sends bodies without their last byte. Resolves with the status and the time of each answer. */
async function holdUnfinished(count: number, content: Buffer): Promise<string[]> {
  const { access, url } = await signUp(system);
  const { port } = new URL(url);
  const request = unfinishedRequest('/api/recording/events/', content, access);
  return Promise.all(
    Array.from({ length: count }, async () => {
      const since = performance.now();
      const socket = connect(Number(port), '127.0.0.1').setEncoding('latin1');
      let answer = '';
      socket.on('data', (chunk) => {
        answer += chunk;
      });
      socket.on('error', () => {});
      socket.write(request);
      await once(socket, 'close');
      return `${answer.slice(9, 12)} after ${Math.round((performance.now() - since) / 1000)} s`;
    }),
  );
}

async function floodAs(accounts: number): Promise<Record<string, number>> {
  const people = await Promise.all(Array.from({ length: accounts }, () => signUp(system)));
  const tokens = people.map(({ access }) => access);
  return floodUploads({ url: people[0]?.url ?? '', tokens, atOnce: 12, forMs: ATTACK_MS, bytes: 15 * MIB });
}

function countAnswers(answers: unknown): Record<string, number> {
  if (!Array.isArray(answers)) return answers as Record<string, number>;
  const counts: Record<string, number> = {};
  for (const answer of answers) {
    const name = typeof answer === 'string' ? answer : `${answer.status} ${answer.code}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
