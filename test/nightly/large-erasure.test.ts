import assert from 'node:assert/strict';
import { admit } from '../../shared/db/stores/work/admit.ts';
import { newId } from '../../shared/ids.ts';
import { admissionTerms, jobAdmission } from '../../shared/work/admission.ts';
import { batchReply, predictBatch } from '../../shared/work/kinds.ts';
import { isGone, signUp, type UserClient } from '../support/account.ts';
import { predictionBody, type Reply } from '../support/client.ts';
import { largestDelete, noteDeletes } from '../support/deletes.ts';
import { hang } from '../support/fake-provider.ts';
import { predictReply } from '../support/replies.ts';
import { type System, type TestProcess, useProcesses } from '../support/system.ts';
import { until } from '../support/until.ts';

const BATCHES = 110;
const PARTS = 100;
const JOBS = 50_000;
const STEP_ROWS_MAX = 1000;

describe('large erasure', function () {
  this.timeout(180_000);
  // The worker serves no batches, so the parts of batches stay queued.
  const system = useProcesses();
  before(() => noteDeletes(system));

  const count = async (table: string, { id }: UserClient, by = 'party') => {
    const rows = await system.sql<{ count: number }>(
      `select count(*)::int as count from ${table} where ${by} = $1`,
      [id],
    );
    return rows[0]?.count ?? 0;
  };
  it('the erasure of 60,000 rows of work is answered within 1 s, deletes at most 1000 rows at a time, and keeps other calls under 1.5 s #erasure-load', async () => {
    const [person, other, app] = await Promise.all([signUp(system), signUp(system), system.app()]);
    system.provider.next(hang());
    const waiting = predictReply(person);
    await system.provider.called(1);
    await queueParts(system, person);
    await addHistory(system, person);

    const slowest = slowestCall(() => [
      app.predict(predictionBody()),
      other.request('GET', '/api/memory/facts/'),
    ]);
    const since = performance.now();
    const { status, text } = await person.request('DELETE', '/api/auth/me/');
    const answeredMs = performance.now() - since;
    assert.equal(status, 204, text);
    assert.ok(answeredMs < 1000, `answered after ${answeredMs} ms`);
    const ended = await waiting;
    assert.ok(['prediction_cancelled', 'not_authenticated'].includes(ended.code ?? ''), ended.text);
    await until(() => isGone(system, person), 60_000);
    assert.ok((await slowest.stop()) < 1500, `another call took ${await slowest.stop()} ms`);
    for (const table of ['work', 'history']) assert.equal(await count(table, person), 0, table);
    assert.equal(await count('replies', person, 'account_id'), 0);
    assert.ok((await largestDelete(system)) <= STEP_ROWS_MAX);
  });
});

/** Queues batches of the account and their parts, as an ingress and a worker would. */
async function queueParts(
  { database: { pool } }: System<TestProcess>,
  { id: accountId }: UserClient,
): Promise<void> {
  const terms = { process: newId(), timeoutMs: 600_000, recoveryWindowS: 600 };
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const job = jobAdmission(predictBatch, { accountId, body: {}, facts: {} });
    await admit(pool, [job], admissionTerms(predictBatch, terms));
    const parts = Array.from({ length: PARTS }, (_, place) =>
      jobAdmission(batchReply, {
        accountId,
        body: { agent: 'coder', agent_input: 'Which?', k: 1, threshold: 0.9 },
        facts: { batch: job.id, place },
      }),
    );
    await admit(pool, parts, admissionTerms(batchReply, terms));
  }
}

async function addHistory({ database: { pool } }: System<TestProcess>, { id }: UserClient): Promise<void> {
  await pool.query(
    `insert into history (id, kind, party, key, fingerprint, state, attempt, admission, admitted_at, ended_at, expires_at, facts)
     select gen_random_uuid(), 'sync', $1, gen_random_uuid(), '', 'succeeded', 1, gen_random_uuid(), now(), now(), now(), '{}'
       from generate_series(1, $2)`,
    [id, JOBS],
  );
}

/** Repeats the calls, which must succeed, until `stop`, which returns the milliseconds of the slowest call. */
function slowestCall(calls: () => Promise<Reply<unknown>>[]): { stop(): Promise<number> } {
  let stopped = false;
  let slowest = 0;
  const timed = async (call: Promise<Reply<unknown>>) => {
    const since = performance.now();
    const { status, text } = await call;
    slowest = Math.max(slowest, performance.now() - since);
    assert.equal(status, 200, text);
  };
  const done = (async () => {
    while (!stopped) await Promise.all(calls().map(timed));
  })();
  return {
    async stop() {
      stopped = true;
      await done;
      return slowest;
    },
  };
}
