import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../../shared/ids.ts';
import { hashPassword } from '../../shared/security/passwords.ts';
import { mochaGlobalSetup, mochaGlobalTeardown } from '../setup.ts';
import { anonymously } from '../support/account.ts';
import { predictionBody } from '../support/client.ts';
import { delay, ok } from '../support/fake-provider.ts';
import { KeepAliveClient, percentile } from '../support/keep-alive-client.ts';
import { type System, startSystem } from '../support/system.ts';

/** By hand: 200 wrong passwords for 200 accounts from 200 addresses at once, while somebody asks for predictions. */
const LOGINS = 200;
const ROUNDS = 3;
/** Of the fake provider: a quick model. The second figure shows the service's own part, with a provider of no time. */
const PROVIDER_MS = [150, 0];
const CALM_MS = 4000;
const MOST_GROWTH = 1.5;

await mochaGlobalSetup();
const system = await startSystem({ env: { TRUST_PROXY: 'loopback', SANDBOX_UNITS: '1000000' } });
try {
  const results = [];
  for (const providerMs of PROVIDER_MS) results.push(await measure(system, providerMs));
  console.log(JSON.stringify(results, undefined, 2));
  process.exitCode = (results[0]?.growth ?? Number.POSITIVE_INFINITY) < MOST_GROWTH ? 0 : 1;
} finally {
  await system.stop();
  await mochaGlobalTeardown();
}

async function measure(system: System, providerMs: number) {
  system.provider.respond(delay(providerMs, ok()));
  const app = await system.app();
  const client = new KeepAliveClient(app.key);
  /** One prediction after the other, until it is over. */
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
  // What else the machine does falls on single rounds.
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

/** The same hash for all of them: the storm never gets as far as a right password. */
async function makeAccounts({ database }: System): Promise<string[]> {
  const ids = Array.from({ length: LOGINS }, newId);
  await database.pool.query(
    `insert into accounts (id, email, email_key, name, password_hash, active, created_at, updated_at)
     select id, id || '@example.com', id || '@example.com', '', $2, true, now(), now() from unnest($1::uuid[]) id`,
    [ids, await hashPassword('a horse with 9 staples')],
  );
  return ids.map((id) => `${id}@example.com`);
}

function guess(system: System, email: string, place: number) {
  const headers = { 'x-forwarded-for': `198.51.100.${place}` };
  const body = { email, password: 'a wrong guess 123' };
  return anonymously(system, 'POST', '/api/auth/login/', body, { headers });
}
