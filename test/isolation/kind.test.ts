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
const PROMPT_MS = 1000;

describe('work', () => {
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

    it('work fails with internal_error when its input is not valid', async () => {
      for (const input of ['no JSON', '{"text":1}']) {
        const { outcome } = await caller.ask({ text: '', input });
        assert.deepEqual(
          [outcome.state, outcome.code, outcome.source],
          ['failed', 'internal_error', 'worker'],
        );
      }
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

    it('a one-at-a-time kind runs the work of one account one after another, and leaves slots to other accounts #one-at-a-time', async () => {
      await using _another = await system.startWorker();
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

    it('predictions are answered within a second while all slots of another pool are taken #pools', async () => {
      await system.startWeb();
      const app = await system.app();
      // The first calls of new processes take long by themselves.
      await Promise.all(Array.from({ length: 4 }, () => app.predict(predictionBody())));
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
});
