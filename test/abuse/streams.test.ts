import assert from 'node:assert/strict';
import { signUp, type UserClient } from '../support/account.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const STREAMS = 20;

describe('event streams', () => {
  let system: System;
  let person: UserClient;
  before(async () => {
    // Nobody performs the jobs, so their streams stay open.
    system = await startSystem({ workers: 0 });
    person = await signUp(system);
  });
  after(() => system?.stop());

  const open = async (one: UserClient, cut: AbortSignal) => {
    const answer = await fetch(`${one.url}/api/memory/sync/`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${one.access}`,
        accept: 'text/event-stream',
        'content-type': 'application/json',
        'idempotency-key': 'one job',
      },
      body: '{}',
      signal: cut,
    });
    if (answer.status !== 200) await answer.text();
    return answer.status;
  };

  it('are bounded for each account, and those that end make room', async () => {
    const cut = new AbortController();
    for (let n = 0; n < STREAMS; n += 1) assert.equal(await open(person, cut.signal), 200);
    assert.equal(await open(person, cut.signal), 503);
    const other = new AbortController();
    assert.equal(await open(await signUp(system), other.signal), 200);
    cut.abort();
    await until(async () => (await open(person, other.signal)) === 200);
    other.abort();
  });
});
