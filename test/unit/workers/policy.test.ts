import assert from 'node:assert/strict';
import type { CircuitNews, CircuitState } from '../../../shared/db/stores/provider-circuits.ts';
import { createLog } from '../../../shared/log.ts';
import type { Completion } from '../../../workers/providers/chat.ts';
import { ProviderPolicy, type SharedPolicyState, withPolicy } from '../../../workers/providers/policy.ts';
import { type CallLimits, ProviderError } from '../../../workers/providers/provider.ts';
import { anyCharge } from '../../support/charge.ts';
import { until } from '../../support/until.ts';

const LOG = createLog('test', 'silent');
const PROBE_EVERY_MS = 300;
const SETTINGS = { provider: 'p', failuresToOpen: 5, probeEveryMs: PROBE_EVERY_MS };
const USAGE = { inputTokens: 1, cachedTokens: 0, outputTokens: 1 };
const ANSWER: Completion = { state: 'written', text: 'x', usage: USAGE };
const QUESTION = {
  name: 'q',
  messages: [],
  schema: {},
  maxTokens: 300,
  format: 'text',
  limit: 'max_tokens',
  extras: [],
  thinks: false,
} as const;

const outageError = () => new ProviderError('failed', '500', { outage: true });

/** Fails like a database that is down, so that workers share nothing. */
const failLost = () => Promise.reject(new Error('the database is gone'));
const NO_DATABASE: SharedPolicyState = {
  report: failLost,
  read: failLost,
  claimProbe: failLost,
  countWorkers: failLost,
  announce: failLost,
};

describe('provider policy', () => {
  let calls: number;
  let answer: () => Promise<Completion>;
  let policies: ProviderPolicy[];
  beforeEach(() => {
    calls = 0;
    policies = [];
    answer = async () => ANSWER;
  });
  afterEach(() => Promise.all(policies.map((policy) => policy.close())));

  function start(shared: SharedPolicyState, concurrency?: number) {
    const options = { settings: SETTINGS, concurrency, fairTimeoutMs: 1000, shared, log: LOG };
    const policy = new ProviderPolicy(options);
    policies.push(policy);
    const chat = withPolicy(() => {
      calls += 1;
      return answer();
    }, policy);
    return (fields: Partial<CallLimits> = {}) => {
      const { signal } = new AbortController();
      return chat(QUESTION, { model: 'm', signal, timeoutMs: 2000, charge: anyCharge, ...fields });
    };
  }

  const failCallsWith = (error: ProviderError) => {
    answer = () => Promise.reject(error);
  };

  async function fail(send: () => Promise<unknown>, times: number) {
    for (let n = 0; n < times; n++) await assert.rejects(send(), ProviderError);
  }

  it('without the database, the provider policy opens the circuit after five failures, and closes it after a successful probe', async () => {
    const send = start(NO_DATABASE);
    failCallsWith(outageError());
    await fail(send, 50);
    assert.equal(calls, 5);
    await assert.rejects(send(), { fault: 'failed', message: 'not called: circuit open' });
    // One probe is sent, even though many callers ask at once.
    await until(async () => {
      await Promise.allSettled(Array.from({ length: 10 }, () => send()));
      return calls > 5;
    });
    assert.equal(calls, 6);
    answer = async () => ANSWER;
    await until(() => send().catch(() => undefined));
    assert.equal(calls, 7);
    assert.equal((await Promise.all([send(), send()])).length, 2);
  });

  it('without the database, the provider policy sends no call during a Retry-After pause', async () => {
    const send = start(NO_DATABASE);
    failCallsWith(new ProviderError('rate_limited', '429', { retryAfterMs: 300, outage: true }));
    await fail(send, 5);
    assert.equal(calls, 1);
    await assert.rejects(send(), ({ fault, retryAfterMs }: ProviderError) => {
      assert.equal(fault, 'rate_limited');
      return Number(retryAfterMs) > 0 && Number(retryAfterMs) <= 300;
    });
    answer = async () => ANSWER;
    await until(() => send().catch(() => undefined));
  });

  it("failures that the request, the key, a rate limit or the caller may have caused do not open the provider's circuit", async () => {
    const send = start(NO_DATABASE);
    for (const error of [
      new ProviderError('failed', '400'),
      new ProviderError('not_configured', '401'),
      new ProviderError('rate_limited', '429', { retryAfterMs: 0, outage: true }),
    ]) {
      failCallsWith(error);
      await fail(send, 10);
    }
    assert.equal(calls, 30);
    // A call with a short time limit, or one that was aborted, does not count.
    failCallsWith(new ProviderError('timeout', 'timeout', { outage: true }));
    await fail(() => send({ timeoutMs: 100 }), 10);
    const signal = AbortSignal.abort();
    await fail(() => send({ signal }), 10);
    assert.equal(calls, 50);
    await fail(send, 10);
    assert.equal(calls, 55);
  });

  it('the provider policy reports an open circuit as failed, never as a timeout, which callers would retry at once', async () => {
    const send = start(NO_DATABASE);
    failCallsWith(new ProviderError('timeout', 'timeout', { outage: true }));
    await fail(send, 5);
    await assert.rejects(send(), { fault: 'failed' });
  });

  it('the provider policy keeps the circuit closed if a call succeeds after every four failures', async () => {
    const send = start(NO_DATABASE);
    for (let round = 0; round < 4; round++) {
      failCallsWith(outageError());
      await fail(send, 4);
      answer = async () => ANSWER;
      await send();
    }
    assert.equal(calls, 20);
  });

  it("the provider policy opens the circuit for an app only if that app's own calls have failed", async () => {
    const send = start(NO_DATABASE);
    const of = (appId: string) => () => send({ charge: { ...anyCharge, appId } });
    failCallsWith(outageError());
    await fail(of('one'), 10);
    assert.equal(calls, 5);
    answer = async () => ANSWER;
    await of('two')();
    // The success has closed the circuit.
    await of('one')();
    failCallsWith(outageError());
    await fail(of('one'), 10);
    await fail(of('two'), 10);
    await fail(of('three'), 10);
    // Apps two and three each made one failing call of their own.
    assert.equal(calls, 7 + 5 + 1 + 1);
  });

  it('the provider policies of two workers count their failures together', async () => {
    const shared = sharedStore();
    const [one, two] = [start(shared), start(shared)];
    failCallsWith(outageError());
    await fail(one, 3);
    await until(() => shared.row()?.failures === 3);
    await fail(two, 2);
    await until(() => (shared.row()?.failures ?? 0) >= 5);
    const before = calls;
    await until(async () => {
      await Promise.allSettled([one(), two()]);
      return calls - before;
    });
    // At most two calls: one sent before the news arrived, and the probe.
    assert.ok(calls - before <= 2, `${calls - before}`);
  });

  for (const [what, claimProbe] of [
    ['another worker has claimed the probe', async () => false],
    ['the claim of the probe gets no answer in time', () => Promise.reject(new Error('late'))],
  ] as const)
    it(`the provider policy sends no probe if ${what}, even if the next probe is due by then`, async () => {
      const send = start({ ...sharedStore(), claimProbe, read: async () => [{ ...open, probeMs: 0 }] });
      await until(() =>
        send().then(
          () => false,
          ({ message }) => message === 'not called: circuit open',
        ),
      );
      const before = calls;
      for (let n = 0; n < 5; n++) await assert.rejects(send(), { fault: 'failed' });
      assert.equal(calls, before);
    });

  it('the provider policy sends one probe if the database becomes unreachable while the probe is claimed', async () => {
    let [claims, reads, gone] = [0, 0, false];
    const late = Promise.withResolvers<boolean>();
    const send = start({
      ...sharedStore(),
      claimProbe() {
        claims += 1;
        return late.promise;
      },
      async read() {
        if (gone) throw new Error('gone');
        reads += 1;
        return [{ ...open, probeMs: 0 }];
      },
    });
    const sent: Promise<unknown>[] = [];
    const quietly = () => send().catch(() => undefined);
    await until(() => {
      sent.push(quietly());
      return claims > 0;
    });
    const [before, read] = [calls, reads];
    for (const policy of policies) policy.startExchange();
    // This read finds the probe due, as it was before the claim.
    await until(() => reads > read);
    sent.push(quietly(), quietly());
    gone = true;
    late.reject(new Error('late'));
    await Promise.all(sent);
    assert.equal(calls, before + 1);
  });

  it('the provider policy divides PROVIDER_CONCURRENCY among the workers, and fails calls that get no slot in time', async () => {
    let counted = false;
    const shared = {
      ...sharedStore(),
      async countWorkers() {
        counted = true;
        return 2;
      },
    };
    const send = start(shared, 4);
    const end = Promise.withResolvers<Completion>();
    answer = () => end.promise;
    await until(() => counted);
    const running = [send(), send()];
    await assert.rejects(send({ timeoutMs: 50 }), { fault: 'timeout' });
    await assert.rejects(send({ signal: AbortSignal.timeout(20) }), { name: 'TimeoutError' });
    assert.equal(calls, 2);
    end.resolve(ANSWER);
    await Promise.all(running);
  });

  it('the provider policy ignores pauses and probe intervals of an hour, which only a clock that was set back can cause', async () => {
    let claims = 0;
    const hourMs = 60 * 60 * 1000;
    const send = start({
      ...sharedStore(),
      read: async () => [{ ...open, pausedMs: hourMs, probeMs: hourMs }],
      async claimProbe() {
        claims += 1;
        return true;
      },
    });
    await until(async () => {
      await send();
      return claims > 0;
    });
  });

  it('the provider policy does not send a call whose time limit has passed', async () => {
    const send = start(NO_DATABASE);
    await assert.rejects(send({ timeoutMs: 0 }), { fault: 'timeout' });
    assert.equal(calls, 0);
  });

  it('the provider policy reports failures that happened during a database outage once the database is back', async () => {
    const shared = sharedStore();
    shared.gone = true;
    const send = start(shared);
    failCallsWith(outageError());
    await fail(send, 3);
    await until(() => shared.refused > 0);
    await fail(send, 1);
    shared.gone = false;
    await until(() => shared.row()?.failures === 4);
  });

  /** A circuit that other workers have opened for all parties. */
  const open: CircuitState = {
    model: 'm',
    failures: SETTINGS.failuresToOpen,
    // More parties than the policy distinguishes, so the circuit is open for all.
    parties: Array.from({ length: 101 }, (_, n) => `${n}`),
    fault: 'failed',
    pausedMs: null,
    probeMs: null,
  };

  /** Makes an in-memory store of the state that workers share. */
  function sharedStore() {
    const rows = new Map<string, CircuitState>();
    const store = {
      gone: false,
      refused: 0,
      row: () => rows.get('m'),
      async report({ model, succeeded, failures, parties, fault }: CircuitNews) {
        if (store.gone) {
          store.refused += 1;
          throw new Error('gone');
        }
        const before = succeeded ? undefined : rows.get(model);
        const total = (before?.failures ?? 0) + failures;
        const whose = [...(before?.parties ?? []), ...parties];
        const probeMs = total >= SETTINGS.failuresToOpen ? PROBE_EVERY_MS : null;
        rows.set(model, { model, failures: total, parties: whose, fault, pausedMs: null, probeMs });
        return total;
      },
      async read() {
        return [...rows.values()];
      },
      claimProbe: async () => true,
      countWorkers: async () => 1,
      async announce() {
        for (const policy of policies) policy.startExchange();
      },
    };
    return store;
  }
});
