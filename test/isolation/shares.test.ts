import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { signUp, type UserClient } from '../support/account.ts';
import { type AppClient, predictionBody } from '../support/client.ts';
import { delay, ok } from '../support/fake-provider.ts';
import { predictReply, proposing } from '../support/replies.ts';
import { type System, startSystem } from '../support/system.ts';

const SLOTS = 16;
const SERVICE_MS = 400;
/** Answers a second of all slots together. */
const CAPACITY = (SLOTS * 1000) / SERVICE_MS;
const OTHERS = 60;
const CALLERS_OF_BIG = 16;
const CALLERS_OF_EACH = 4;

describe('a busy app among many parties', function () {
  this.timeout(120_000);
  let system: System;
  let big: AppClient;
  beforeEach(async () => {
    system = await startSystem({
      workers: 2,
      env: { WORKER_CONCURRENCY: `${SLOTS / 2}`, SANDBOX_UNITS: '1000000', DATABASE_POOL: '20' },
    });
    system.provider.respond((response, call) => {
      const answer = 'prompt' in call.record ? proposing([{ response: 'Blue' }]) : ok();
      return delay(SERVICE_MS, answer)(response, call);
    });
    big = await system.app();
  });
  afterEach(() => system.stop());

  it('keeps its share among sixty small apps, minute after minute', async () => {
    const share = CAPACITY / (OTHERS + 1);
    const [rate] = await answeredAmong(await apps(), () => big.predict(predictionBody()), {
      forS: 60,
      lastS: 20,
    });
    assert.ok(rate > 0.8 * share, `${rate} answers a second, its share is ${share}`);
  });

  it('keeps its share although its callers cancel, supersede and run out of time', async () => {
    const share = CAPACITY / (OTHERS + 1);
    let isOver = false;
    const restless = [
      async () => {
        const body = predictionBody();
        const reply = big.predict(body);
        await sleep(300);
        await big.cancel(body.request_id, body.user_id);
        await reply;
      },
      async (n: number) => {
        const draft = { text: 'typed on ', revision: n };
        void big.predict(predictionBody({ session_id: 'typing', draft })).catch(() => undefined);
        await sleep(150);
      },
      async () => {
        const gone = new AbortController();
        const left = big.predict(predictionBody(), { signal: gone.signal }).catch(() => undefined);
        await sleep(200);
        gone.abort();
        await left;
      },
    ];
    const disturbing = restless.map(async (disturb) => {
      for (let n = 1; !isOver; n += 1) await disturb(n);
    });
    const [rate] = await answeredAmong(await apps(), () => big.predict(predictionBody()), {
      forS: 60,
      lastS: 20,
    });
    isOver = true;
    await Promise.all(disturbing);
    assert.ok(rate > 0.8 * share, `${rate} answers a second, its share is ${share}`);
  });

  it('keeps half of the slots beside sixty accounts, however many they are', async () => {
    const people: UserClient[] = [];
    for (let n = 0; n < OTHERS; n += 1) people.push(await signUp(system));
    const others = people.map((person) => () => predictReply(person));
    const [rate, rest] = await answeredAmong(others, () => big.predict(predictionBody()), {
      forS: 25,
      lastS: 15,
    });
    assert.ok(rate > 0.45 * (rate + rest), `${rate} answers a second of ${rate + rest}`);
    assert.ok(rest > 0.4 * (rate + rest), `the accounts got ${rest} a second of ${rate + rest}`);
  });

  const apps = async () => {
    const clients = await Promise.all(Array.from({ length: OTHERS }, () => system.app()));
    return clients.map((app) => () => app.predict(predictionBody()));
  };

  /** How many calls of the big app, and of all others, were answered 200 a second, in the last seconds of some. */
  async function answeredAmong(
    others: readonly (() => Promise<{ status: number }>)[],
    ask: () => Promise<{ status: number }>,
    { forS, lastS }: { forS: number; lastS: number },
  ): Promise<[number, number]> {
    const start = performance.now();
    const isOver = () => performance.now() > start + forS * 1000;
    const count = { big: 0, others: 0 };
    const caller = async (call: () => Promise<{ status: number }>, whose: keyof typeof count) => {
      while (!isOver()) {
        const { status } = await call();
        const isLate = performance.now() > start + (forS - lastS) * 1000;
        if (status === 200 && isLate && !isOver()) count[whose] += 1;
        // As a client does that is told to come back.
        if (status === 503) await sleep(1000);
      }
    };
    await Promise.all([
      ...Array.from({ length: CALLERS_OF_BIG }, () => caller(ask, 'big')),
      ...others.flatMap((call) => Array.from({ length: CALLERS_OF_EACH }, () => caller(call, 'others'))),
    ]);
    return [count.big / lastS, count.others / lastS];
  }
});
