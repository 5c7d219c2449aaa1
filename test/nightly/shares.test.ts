import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { signUp, type UserClient } from '../support/account.ts';
import { type AppClient, predictionBody } from '../support/client.ts';
import { delay, ok } from '../support/fake-provider.ts';
import { predictReply, proposeReplies } from '../support/replies.ts';
import { type System, startProcesses, type TestProcess } from '../support/system.ts';

const SLOTS = 16;
const SERVICE_MS = 400;
const SMALL_APPS = 60;
const CALLERS_OF_BIG = 16;
const CALLERS_OF_EACH = 4;

describe('busy app among many parties', () => {
  let system: System<TestProcess>;
  let big: AppClient;
  beforeEach(async () => {
    system = await startProcesses({
      workers: 2,
      env: { WORKER_CONCURRENCY: `${SLOTS / 2}`, SANDBOX_UNITS: '1000000', DATABASE_POOL: '20' },
    });
    system.provider.respond((response, call) => {
      const answer = 'prompt' in call.record ? proposeReplies([{ response: 'Blue' }]) : ok();
      return delay(SERVICE_MS, answer)(response, call);
    });
    big = await system.app();
  });
  afterEach(() => system.stop());

  it('after 40 s, a busy app among sixty small apps gets at least 80 % of an equal share of answers #fair-shares', async () => {
    const { of, ofOthers } = await countAnswers({ others: await smallApps(), forS: 60, lastS: 20 });
    const share = (of + ofOthers) / (SMALL_APPS + 1);
    assert.ok(of > 0.8 * share, `${of} answers a second, its share is ${share}`);
  });

  it('after 40 s, a busy app whose callers cancel, supersede and disconnect gets at least 80 % of an equal share of answers #fair-shares', async () => {
    const others = await smallApps();
    const { of, ofOthers } = await countAnswers({ others, besides: restless, forS: 60, lastS: 20 });
    const share = (of + ofOthers) / (SMALL_APPS + 1);
    assert.ok(of > 0.8 * share, `${of} answers a second, its share is ${share}`);
  });

  it('a busy app gets about half of the answers beside sixty busy accounts #fair-shares', async () => {
    const people: UserClient[] = [];
    for (let n = 0; n < SMALL_APPS; n += 1) people.push(await signUp(system));
    const others = people.map((person) => () => predictReply(person));
    const { of, ofOthers } = await countAnswers({ others, forS: 25, lastS: 15 });
    const all = of + ofOthers;
    assert.ok(of > 0.45 * all, `${of} answers a second of ${all}`);
    assert.ok(ofOthers > 0.4 * all, `the accounts got ${ofOthers} a second of ${all}`);
  });

  const smallApps = async () => {
    const clients = await Promise.all(Array.from({ length: SMALL_APPS }, () => system.app()));
    return clients.map((app) => () => app.predict(predictionBody()));
  };

  const restless: ((ask: Ask, n: number) => Promise<unknown>)[] = [
    async (ask) => {
      const body = predictionBody();
      const reply = ask(body);
      await sleep(300);
      await big.cancel(body.request_id, body.user_id);
      await reply;
    },
    async (ask, n) => {
      void ask(predictionBody({ session_id: 'typing', draft: { text: 'typed on ', revision: n } }));
      await sleep(150);
    },
    async (ask) => {
      const gone = new AbortController();
      const left = ask(predictionBody(), { signal: gone.signal });
      await sleep(200);
      gone.abort();
      await left;
    },
  ];

  /**
   * Runs all callers for `forS` seconds. Returns how many 200s per second the big app and the others got in the last
   * `lastS` seconds.
   */
  async function countAnswers({ others, besides = [], forS, lastS }: Trial) {
    const start = performance.now();
    const isOver = () => performance.now() > start + forS * 1000;
    const count = { of: 0, ofOthers: 0 };
    const counted = async (whose: keyof typeof count, reply: Promise<{ status: number }>) => {
      // A caller that disconnects gets no status.
      const { status } = await reply.catch(() => ({ status: 0 }));
      const isLate = performance.now() > start + (forS - lastS) * 1000;
      if (status === 200 && isLate && !isOver()) count[whose] += 1;
      return status;
    };
    const caller = async (whose: keyof typeof count, call: () => Promise<{ status: number }>) => {
      // Waits after a 503, as a client that obeys Retry-After does.
      while (!isOver()) if ((await counted(whose, call())) === 503) await sleep(1000);
    };
    const ask: Ask = (body, options) => counted('of', big.predict(body, options));
    await Promise.all([
      ...Array.from({ length: CALLERS_OF_BIG }, () => caller('of', () => big.predict(predictionBody()))),
      ...others.flatMap((call) => Array.from({ length: CALLERS_OF_EACH }, () => caller('ofOthers', call))),
      ...besides.map(async (disturb) => {
        for (let n = 1; !isOver(); n += 1) await disturb(ask, n);
      }),
    ]);
    return { of: count.of / lastS, ofOthers: count.ofOthers / lastS };
  }
});

type Ask = (body: object, options?: { signal: AbortSignal }) => Promise<number>;

interface Trial {
  others: readonly (() => Promise<{ status: number }>)[];
  besides?: readonly ((ask: Ask, n: number) => Promise<unknown>)[];
  forS: number;
  lastS: number;
}
