import assert from 'node:assert/strict';
import { anonymously, signUp, someEmail } from '../support/account.ts';
import type { Reply } from '../support/client.ts';
import { useProcesses } from '../support/system.ts';

const PASSWORD = 'a horse with 9 staples';
/** Fewer sign-ups than may be queued. */
const STORM_SIGN_UPS = 60;
const SIGN_UPS = 100;
const STRANGER = '198.51.100.7';
const VICTIM = '203.0.113.9';

const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });

describe('storm of sign-ups', () => {
  const system = useProcesses({ workers: 0, env: { TRUST_PROXY: 'loopback' } });

  for (const [whose, address] of [
    ['another', VICTIM],
    ['the same', STRANGER],
  ] as const)
    it(`during 60 sign-ups from one network, a log-in from ${whose} network is answered before most of them #log-in-storm`, async () => {
      const { email, password } = await signUp(system);
      const storm = new AbortController();
      let made = 0;
      const storming = Array.from({ length: STORM_SIGN_UPS }, async () => {
        const person = { email: someEmail(), password: PASSWORD };
        const options = { ...from(STRANGER), signal: storm.signal };
        await anonymously(system, 'POST', '/api/auth/signup/', person, options).catch(() => {});
        made += 1;
      });
      await Promise.race(storming);
      const before = made;
      const body = { email, password };
      const { status, text } = await anonymously(system, 'POST', '/api/auth/login/', body, from(address));
      const overtakers = made - before;
      storm.abort();
      await Promise.all(storming);
      assert.equal(status, 200, text);
      // One sign-up was being hashed; the log-in is next.
      assert.ok(overtakers < STORM_SIGN_UPS / 4, `${overtakers} of ${STORM_SIGN_UPS} came first`);
    });
});

describe('sign-up limit', () => {
  const system = useProcesses({
    workers: 0,
    env: { TRUST_PROXY: 'loopback', RATE_LIMIT_RPS: '10000', RATE_LIMIT_BURST: '10000' },
  });

  it('one network can try a hundred sign-ups an hour, which do not count for another network', async () => {
    const { email } = await signUp(system);
    const tryFrom = (address: string, part: object = {}): Promise<Reply<object>> =>
      anonymously(system, 'POST', '/api/auth/signup/', { email, password: PASSWORD, ...part }, from(address));
    // Attempts with a taken e-mail address count too, lest a program search for accounts.
    for (let n = 0; n < SIGN_UPS; n += 1) assert.equal((await tryFrom(STRANGER)).code, 'email_taken');
    const refused = await tryFrom(STRANGER, { email: someEmail() });
    assert.deepEqual([refused.status, refused.code], [429, 'rate_limited']);
    const seconds = Number(refused.headers.get('retry-after'));
    assert.ok(seconds > 0 && seconds <= 3600, `${seconds}`);
    assert.equal((await tryFrom(VICTIM, { email: someEmail() })).status, 201);
  });
});
