import assert from 'node:assert/strict';
import { requestKey } from '../../shared/domain/work.ts';
import { newId } from '../../shared/ids.ts';
import type { predict } from '../../shared/work/kinds.ts';
import type { Handler, Handlers } from '../../workers/work/handler.ts';
import { predictionBody } from '../support/client.ts';
import { type EchoCaller, openEchoCaller, PARTY } from '../support/echo-caller.ts';
import { echo, echoInTurn, type kinds } from '../support/echo-kind.ts';
import { Gate } from '../support/gate.ts';
import { type System, type SystemOptions, startProcesses, type TestProcess } from '../support/system.ts';
import { until } from '../support/until.ts';

const SLOTS = 2;
const DEADLINE_MS = 1500;
const GRACE_MS = 1000;
/** Enough for a few polls, one a second. Without polls, callers would wait until the deadline. */
const POLLED_ANSWER_MS = 4000;
const PROMPT_MS = 1000;

describe('work', function () {
  this.timeout(60_000);
  let system: System<TestProcess>;
  let caller: EchoCaller;
  let gate: Gate<string>;

  describe('on a whole system', () => {
    before(() => start({ env: { LEASE_MS: '3000', PREDICTION_TIMEOUT_MS: '20000' } }));
    after(stop);
    beforeEach(() => gate.reset());
    afterEach(letAllEnd);

    it('work is admitted and run, and its waiting caller gets the answer, the facts and the report', async () => {
      const { outcome, replayed } = await caller.ask({ text: 'hello' });
      const { state, code, answer, attempt, units, month } = outcome;
      assert.deepEqual(
        { replayed, state, code, answer, attempt, units, month },
        { replayed: false, state: 'echoed', code: null, answer: 'hello', attempt: 1, units: 0, month: null },
      );
      assert.equal(outcome.facts.askedBy, outcome.party);
      assert.deepEqual(outcome.report, { attempt: 1, length: 'hello'.length });
    });

    it('work runs once for a repeated request, and a different request with the same id is refused', async () => {
      const requestId = newId();
      const first = await caller.ask({ text: 'once', requestId });
      const second = await caller.ask({ text: 'once', requestId });
      assert.deepEqual(second, { outcome: first.outcome, replayed: true });
      await assert.rejects(caller.ask({ text: 'twice', requestId }), { code: 'idempotency_conflict' });
      assert.equal(gate.visits.length, 1);
    });

    it('work fails with internal_error when its handler throws synchronously', async () => {
      const { outcome } = await caller.ask({ text: '' });
      assert.deepEqual([outcome.state, outcome.code, outcome.source], ['failed', 'internal_error', 'worker']);
    });

    it('work fails with internal_error when its input is not valid', async () => {
      for (const input of ['no JSON', '{"text":1}']) {
        const { outcome } = await caller.ask({ text: '', input });
        assert.deepEqual(
          [outcome.state, outcome.code, outcome.source],
          ['failed', 'internal_error', 'worker'],
        );
      }
    });

    it('work whose worker is killed runs again on another worker, and the waiting caller gets the answer', async () => {
      gate.shut();
      const waiting = caller.ask({ text: 'again' });
      await gate.visited(1);
      const [victim] = system.workers.splice(0, 1);
      await system.startWorker();
      await victim?.stop('SIGKILL');
      (await gate.visited(2, 15_000)).letThrough();
      const { outcome, replayed } = await waiting;
      assert.deepEqual([outcome.state, outcome.attempt, replayed], ['echoed', 2, false]);
      assert.deepEqual(outcome.report, { attempt: 2, length: 'again'.length });
    });

    it('work can be cancelled while it runs: its handler is aborted, and its caller gets the outcome', async () => {
      gate.shut();
      const requestId = newId();
      const waiting = caller.ask({ text: 'stop', requestId });
      const visit = await gate.visited(1);
      assert.equal((await caller.cancel(requestId))?.state, 'cancelled');
      const { outcome } = await waiting;
      assert.deepEqual([outcome.state, outcome.code], ['cancelled', 'job_cancelled']);
      assert.equal(outcome.report, null);
      await until(() => visit.aborted);
    });

    it('work that is cancelled while queued never runs', async () => {
      const filling = await fillSlots();
      const requestId = newId();
      const waiting = caller.ask({ text: 'never', requestId });
      await until(() => caller.isQueued(requestId));
      assert.equal((await caller.cancel(requestId))?.state, 'cancelled');
      assert.equal((await waiting).outcome.code, 'job_cancelled');
      gate.open();
      await filling.ended();
      assert.equal((await caller.ask({ text: 'after it' })).outcome.state, 'echoed');
      assert.ok(!gate.visits.some(({ subject }) => subject === 'never'));
    });

    it('work can be started without waiting for its answer; a later request with the same id gets the answer', async () => {
      const requestId = newId();
      const { replayed } = await caller.start({ text: 'later', requestId });
      assert.equal(replayed, false);
      const again = await caller.ask({ text: 'later', requestId });
      assert.deepEqual([again.outcome.answer, again.replayed], ['later', true]);
      assert.equal(gate.visits.length, 1);
    });

    it('work of a kind that outlives its callers stays queued when its caller has left or its ingress has died', async () => {
      const filling = await fillSlots();
      const left = new AbortController();
      const [leaver, orphan, canary] = [newId(), newId(), newId()];
      const waiting = assert.rejects(caller.ask({ text: 'left', requestId: leaver }, left.signal));
      await until(() => caller.isQueued(leaver));
      left.abort();
      await waiting;
      await caller.start({ text: 'orphaned', requestId: orphan });
      await caller.start({ text: 'canary', requestId: canary });
      const { pool } = system.database;
      const longAgo = `now() - interval '1 minute'`;
      await pool.query(`update work set admitted_at = ${longAgo}, waiters = '{}' where state = 'queued'`);
      // Makes the canary look like work that ends with its callers. The round that abandons the canary has also looked
      // at the other work.
      const key = requestKey(echo.name, PARTY, canary);
      await pool.query(`update work set detached_at = ${longAgo} where key = $1`, [key]);
      await until(async () => !(await caller.isQueued(canary)));
      assert.deepEqual(await Promise.all([leaver, orphan].map((id) => caller.isQueued(id))), [true, true]);
      gate.open();
      await filling.ended();
      const { outcome } = await caller.ask({ text: 'orphaned', requestId: orphan });
      assert.equal(outcome.state, 'echoed');
      // Calls are refused as overload until the load is read again, since work seemed to have waited for a minute.
      const isTaken = () =>
        caller.ask({ text: 'new' }).then(
          ({ outcome: { state } }) => state,
          () => undefined,
        );
      assert.equal(await until(isTaken), 'echoed');
    });

    it('a one-at-a-time kind runs the work of one account one after another, and leaves slots to other accounts', async () => {
      gate.shut();
      const mine = ['one', 'two', 'three'].map((text) => caller.ask({ text, kind: echoInTurn }));
      await gate.visited(1);
      const other = caller.ask({ text: 'other', kind: echoInTurn, party: newId() });
      await gate.visited(2);
      assert.deepEqual(gate.visits.map(({ subject }) => subject).sort(), ['one', 'other']);
      for (const [n, text] of [
        [3, 'two'],
        [4, 'three'],
      ] as const) {
        for (const visit of gate.visits) visit.letThrough();
        assert.equal((await gate.visited(n)).subject, text);
        assert.equal(gate.visits.length, n);
      }
      gate.open();
      for (const { outcome } of await Promise.all([...mine, other])) assert.equal(outcome.state, 'echoed');
    });

    describe('with a short deadline', () => {
      let hurried: EchoCaller;
      before(async () => {
        hurried = await openEchoCaller(system, gate.url, { predictionTimeoutMs: DEADLINE_MS });
      });
      after(() => hurried.close());

      it('work that is running at its deadline is aborted, and its caller gets job_timeout within a second', async () => {
        gate.shut();
        const waiting = expectTimeout(hurried);
        const visit = await gate.visited(1);
        await waiting;
        await until(() => visit.aborted);
      });

      it('work that is still queued at its deadline never runs, and its caller gets job_timeout within a second', async () => {
        const filling = await fillSlots();
        await expectTimeout(hurried);
        assert.equal(gate.visits.length, SLOTS);
        gate.open();
        await filling.ended();
      });
    });

    it('predictions are answered within a second while all slots of another pool are taken', async () => {
      await system.startWeb();
      const app = await system.app();
      const filling = await fillSlots();
      const queued = caller.ask({ text: 'waits' });
      for (let n = 0; n < 3; n += 1) {
        const reply = await app.predict(predictionBody());
        assert.equal(reply.status, 200, reply.text);
        assert.ok(reply.tookMs < PROMPT_MS, `prediction ${n} took ${reply.tookMs} ms`);
      }
      assert.equal(gate.visits.length, SLOTS);
      gate.open();
      await filling.ended();
      assert.equal((await queued).outcome.state, 'echoed');
    });
  });

  describe('while every wake-up is lost', () => {
    before(() => start({ withoutWakeUps: true }));
    after(stop);
    beforeEach(() => gate.reset());
    afterEach(letAllEnd);

    it('work is answered within 4 s of its end while every wake-up is lost', async () => {
      const before = await system.queue.droppedWakeUps('ended');
      gate.shut();
      const waiting = caller.ask({ text: 'unheard' });
      const visit = await gate.visited(1);
      const since = performance.now();
      visit.letThrough();
      assert.equal((await waiting).outcome.state, 'echoed');
      expectWithin(POLLED_ANSWER_MS, since);
      assert.ok((await system.queue.droppedWakeUps('ended')) > before, 'no wake-up was dropped');
    });

    it('work stops within 4 s of its cancellation while every wake-up is lost', async () => {
      const before = await system.queue.droppedWakeUps('cancel');
      gate.shut();
      const requestId = newId();
      const waiting = caller.ask({ text: 'stop', requestId });
      const visit = await gate.visited(1);
      const since = performance.now();
      await caller.cancel(requestId);
      assert.equal((await waiting).outcome.state, 'cancelled');
      await until(() => visit.aborted);
      expectWithin(POLLED_ANSWER_MS, since);
      assert.ok((await system.queue.droppedWakeUps('cancel')) > before, 'no wake-up was dropped');
    });
  });

  // Fails in the compiler only: at run time it always passes.
  it('a table of handlers does not compile if a kind has no handler, or the handler of another kind', () => {
    type Compiles<Table> = Table extends Handlers<typeof kinds> ? true : false;
    type WithoutEcho = Omit<Handlers<typeof kinds>, 'echo'>;
    const whole: Compiles<WithoutEcho & { echo: Handler<typeof echo> }> = true;
    const missing: Compiles<WithoutEcho> = false;
    const wrong: Compiles<WithoutEcho & { echo: Handler<typeof predict> }> = false;
    assert.deepEqual([whole, missing, wrong], [true, false, false]);
  });

  async function start(options: SystemOptions): Promise<void> {
    gate = new Gate();
    await gate.listen();
    system = await startProcesses({
      ...options,
      webs: 0,
      workerEntry: ['test/support/echo-kind.ts'],
      env: { ...options.env, MEMORY_CONCURRENCY: `${SLOTS}` },
    });
    caller = await openEchoCaller(system, gate.url);
  }

  /** Ends all work, so that no work of a failed test runs during the next test. */
  async function letAllEnd(): Promise<void> {
    gate.open();
    await until(async () => (await system.database.pool.query('select from work')).rows.length === 0);
  }

  async function stop(): Promise<void> {
    await caller.close();
    await system.stop();
    await gate.close();
  }

  /** Occupies every slot of the kind's pool until the gate opens. */
  async function fillSlots(): Promise<{ ended(): Promise<void> }> {
    gate.shut();
    const filling = Array.from({ length: SLOTS }, (_, n) => caller.ask({ text: `filler ${n}` }));
    await gate.visited(SLOTS);
    return {
      async ended() {
        for (const { outcome } of await Promise.all(filling)) assert.equal(outcome.state, 'echoed');
      },
    };
  }

  async function expectTimeout(by: EchoCaller): Promise<void> {
    const since = performance.now();
    const { outcome } = await by.ask({ text: 'late' });
    assert.deepEqual([outcome.state, outcome.code], ['failed', 'job_timeout']);
    expectWithin(DEADLINE_MS + GRACE_MS, since);
  }
});

function expectWithin(ms: number, since: number): void {
  const tookMs = performance.now() - since;
  assert.ok(tookMs < ms, `took ${tookMs} ms`);
}
