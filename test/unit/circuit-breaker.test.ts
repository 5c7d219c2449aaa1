import assert from 'node:assert/strict';
import { CircuitBreaker } from '../../ingress/limits/open-limits.ts';
import { until } from '../support/until.ts';

describe('circuit breaker', () => {
  const OPEN_MS = 100;
  let events: string[];
  let calls: number;
  let breaker: CircuitBreaker;
  beforeEach(() => {
    events = [];
    calls = 0;
    breaker = new CircuitBreaker({
      openMs: OPEN_MS,
      onOpen: (error) => events.push(`open: ${error}`),
      onClose: () => events.push('closed'),
    });
  });

  const run = (work: () => Promise<string>) =>
    breaker.run(
      () => {
        calls += 1;
        return work();
      },
      async () => 'fallback',
    );
  const succeed = async () => 'answer';
  const fail = () => Promise.reject(new Error('down'));

  it('the circuit breaker opens at the first failure, and later calls get the fallback', async () => {
    assert.equal(await run(succeed), 'answer');
    assert.equal(await run(fail), 'fallback');
    assert.equal(await run(succeed), 'fallback');
    assert.equal(calls, 2);
    assert.deepEqual(events, ['open: Error: down']);
  });

  it('the circuit breaker reports an outage once, however many calls and probes fail', async () => {
    await Promise.all([run(fail), run(fail), run(fail)]);
    await until(async () => {
      await run(fail);
      return calls === 5;
    });
    assert.deepEqual(events, ['open: Error: down']);
  });

  it('the circuit breaker probes with a single call, during which other calls get the fallback at once', async () => {
    await run(fail);
    const { promise, resolve } = Promise.withResolvers<string>();
    let probe: Promise<string> | undefined;
    await until(() => {
      const call = run(() => promise);
      if (calls === 2) probe = call;
      return probe !== undefined;
    });
    assert.equal(await run(succeed), 'fallback');
    resolve('answer');
    assert.equal(await probe, 'answer');
    assert.equal(await run(succeed), 'answer');
    assert.deepEqual(events, ['open: Error: down', 'closed']);
  });
});
