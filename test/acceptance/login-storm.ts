import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../../shared/ids.ts';
import { hashPassword } from '../../shared/security/passwords.ts';
import { setUp } from '../setup.ts';
import { anonymously, signUp, someEmail } from '../support/account.ts';
import { predictionBody, type Reply } from '../support/client.ts';
import { delay, ok } from '../support/fake-provider.ts';
import { tally } from '../support/flood.ts';
import { KeepAliveClient, percentile } from '../support/keep-alive-client.ts';
import { measureNoise } from '../support/noise.ts';
import { type System, startProcesses, type TestProcess } from '../support/system.ts';

/**
 * By hand: 200 wrong passwords for 200 accounts from 200 addresses at once, during predictions. Then 45 sign-ups a
 * second from one address while a victim logs in from another: at the default limits, and with the limits off.
 */
const LOGINS = 200;
const ROUNDS = 3;
/** Answer times of the fake provider: a quick model's, then none, which shows the service's own share. */
const PROVIDER_MS = [150, 0];
const CALM_MS = 4000;
const GROWTH_MAX = 1.5;

const SIGN_UPS_PER_S = 45;
const SIGN_UP_STORM_S = 20;
const LOG_IN_WITHIN_MS = 500;
const DEFAULT_LIMITS = { RATE_LIMIT_RPS: '50', RATE_LIMIT_BURST: '100' };
const PASSWORD = 'a horse with 9 staples';
const FROM_STRANGER = { headers: { 'x-forwarded-for': '198.51.100.7' } };
const FROM_VICTIM = { headers: { 'x-forwarded-for': '203.0.113.9' } };

await using _ = await setUp();
const predictions = await withSystem({ SANDBOX_UNITS: '1000000' }, async (system) => {
  const results = [];
  for (const providerMs of PROVIDER_MS) results.push(await measure(system, providerMs));
  return results;
});
const logIns = {
  defaultLimits: await withSystem(DEFAULT_LIMITS, logInsDuringSignUps),
  noLimits: await withSystem({}, logInsDuringSignUps),
};
console.log(JSON.stringify({ predictions, logIns }, undefined, 2));
const isKept =
  (predictions[0]?.growth ?? Number.POSITIVE_INFINITY) < GROWTH_MAX &&
  Object.values(logIns).every(({ logInMs }) => logInMs.max < LOG_IN_WITHIN_MS);
process.exitCode = isKept ? 0 : 1;

async function withSystem<T>(
  env: Record<string, string>,
  work: (system: System<TestProcess>) => Promise<T>,
): Promise<T> {
  await using system = await startProcesses({ env: { TRUST_PROXY: 'loopback', ...env } });
  return await work(system);
}

async function measure(system: System<TestProcess>, providerMs: number) {
  system.provider.respond(delay(providerMs, ok()));
  const app = await system.app();
  const client = new KeepAliveClient(app.key);
  const timesUntil = async (over: Promise<unknown>) => {
    const times: number[] = [];
    let isOver = false;
    void over.finally(() => {
      isOver = true;
    });
    while (!isOver) times.push((await client.predict(app.url, predictionBody())).tookMs);
    return times;
  };

  await timesUntil(sleep(CALM_MS / 2));
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) {
    const emails = await makeAccounts(system);
    const calm = await timesUntil(sleep(CALM_MS));
    const since = performance.now();
    const storm = Promise.all(emails.map((email, i) => guess(system, email, i)));
    const stormy = await timesUntil(storm);
    const stormMs = Math.round(performance.now() - since);
    const statuses = (await storm).map(({ status }) => status);
    rounds.push({
      ...compare(calm, stormy),
      stormMs,
      refused401: statuses.filter((one) => one === 401).length,
    });
  }
  client.close();
  // Takes the median, because other load on the machine affects single rounds.
  return {
    providerMs,
    growth: percentile(
      rounds.map(({ growth }) => growth),
      0.5,
    ),
    rounds,
  };
}

function compare(calm: number[], stormy: number[]) {
  const p95 = { calm: percentile(calm, 0.95), storm: percentile(stormy, 0.95) };
  const p50 = { calm: percentile(calm, 0.5), storm: percentile(stormy, 0.5) };
  return { growth: p95.storm / p95.calm, p95, p50, predictions: { calm: calm.length, storm: stormy.length } };
}

/** Creates accounts that share one password hash, since the storm never uses the right password. */
async function makeAccounts({ database }: System<TestProcess>): Promise<string[]> {
  const ids = Array.from({ length: LOGINS }, newId);
  await database.pool.query(
    `insert into accounts (id, email, email_key, name, password_hash, active, created_at, updated_at)
     select id, id || '@example.com', id || '@example.com', '', $2, true, now(), now() from unnest($1::uuid[]) id`,
    [ids, await hashPassword('a horse with 9 staples')],
  );
  return ids.map((id) => `${id}@example.com`);
}

async function logInsDuringSignUps(system: System<TestProcess>) {
  const { email, password } = await signUp(system);
  const storm: Promise<Reply<unknown>>[] = [];
  const noise = measureNoise({ url: system.webs[0]?.url ?? '' });
  const stormTimer = setInterval(() => {
    const person = { email: someEmail(), password: PASSWORD };
    storm.push(anonymously(system, 'POST', '/api/auth/signup/', person, FROM_STRANGER));
  }, 1000 / SIGN_UPS_PER_S);
  const times: number[] = [];
  for (
    const until = performance.now() + SIGN_UP_STORM_S * 1000;
    performance.now() < until;
    await sleep(250)
  ) {
    const reply = await anonymously(system, 'POST', '/api/auth/login/', { email, password }, FROM_VICTIM);
    if (reply.status !== 200) throw new Error(`the victim was answered ${reply.status} ${reply.text}`);
    times.push(reply.tookMs);
  }
  clearInterval(stormTimer);
  const answers = tally(await Promise.all(storm));
  await noise.stop();
  const healthzMs = { p99: noise.percentile(0.99), max: noise.slowest };
  return {
    logInMs: { p50: percentile(times, 0.5), max: Math.max(...times) },
    logIns: times.length,
    answers,
    healthzMs,
  };
}

function guess(system: System<TestProcess>, email: string, place: number) {
  const headers = { 'x-forwarded-for': `198.51.100.${place}` };
  const body = { email, password: 'a wrong guess 123' };
  return anonymously(system, 'POST', '/api/auth/login/', body, { headers });
}
