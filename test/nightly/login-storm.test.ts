import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../../shared/ids.ts';
import { hashPassword } from '../../shared/security/passwords.ts';
import { anonymously } from '../support/account.ts';
import { predictionBody } from '../support/client.ts';
import { delay, ok } from '../support/fake-provider.ts';
import { KeepAliveClient, percentile } from '../support/keep-alive-client.ts';
import { SCALE } from '../support/scale.ts';
import { useProcesses } from '../support/system.ts';

const LOG_INS = 200;
const ROUNDS = 3 * SCALE;
const CALM_MS = 4000;
/** Answer time of a quick model. */
const SERVICE_MS = 150;
const GROWTH_MAX = 1.5;

describe('storm of log-ins', function () {
  this.timeout(120_000 * SCALE);
  const system = useProcesses({ env: { TRUST_PROXY: 'loopback', SANDBOX_UNITS: '1000000' } });

  it('200 wrong log-ins at once, from 200 networks, make the p95 of predictions less than half as long again #log-in-storm', async () => {
    system.provider.respond(delay(SERVICE_MS, ok()));
    const app = await system.app();
    const client = new KeepAliveClient(app.key);
    const p95Until = async (over: Promise<unknown>) => {
      const times: number[] = [];
      let isOver = false;
      void over.finally(() => {
        isOver = true;
      });
      while (!isOver) times.push((await client.predict(app.url, predictionBody())).tookMs);
      return percentile(times, 0.95);
    };
    await p95Until(sleep(CALM_MS / 2));
    const growth: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const emails = await makeAccounts();
      const calm = await p95Until(sleep(CALM_MS));
      const storm = Promise.all(emails.map(guess));
      growth.push((await p95Until(storm)) / calm);
      assert.deepEqual([...new Set((await storm).map(({ status }) => status))], [401]);
    }
    client.close();
    // Takes the median, because other load on the machine affects single rounds.
    assert.ok(percentile(growth, 0.5) < GROWTH_MAX, `${growth}`);
  });

  /** Creates accounts that share one password hash, since the storm never uses the right password. */
  async function makeAccounts(): Promise<string[]> {
    const ids = Array.from({ length: LOG_INS }, newId);
    await system.sql(
      `insert into accounts (id, email, email_key, name, password_hash, active, created_at, updated_at)
       select id, id || '@example.com', id || '@example.com', '', $2, true, now(), now() from unnest($1::uuid[]) id`,
      [ids, await hashPassword('a horse with 9 staples')],
    );
    return ids.map((id) => `${id}@example.com`);
  }

  function guess(email: string, place: number) {
    const headers = { 'x-forwarded-for': `198.51.100.${place}` };
    return anonymously(
      system,
      'POST',
      '/api/auth/login/',
      { email, password: 'a wrong guess 123' },
      { headers },
    );
  }
});
