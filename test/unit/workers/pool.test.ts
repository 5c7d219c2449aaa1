import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { Box } from '../../../shared/box.ts';
import type { Claim, ClaimResult, ClaimTerms, Flow } from '../../../shared/db/stores/work/claim.ts';
import { createLog } from '../../../shared/log.ts';
import type { Job } from '../../../shared/queue/queues.ts';
import { kindsOfPool } from '../../../shared/work/kind.ts';
import { kinds } from '../../../shared/work/kinds.ts';
import { WorkerPool } from '../../../workers/work/pool.ts';
import { until } from '../../support/until.ts';

const flow = (party: string): Flow => ({ kind: 'predict', party });
const A = flow('a');
const B = flow('b');

const work = (id: string, party = 'a'): Claim => ({
  ...{ id, ...flow(party), month: null, attempt: 1, worker: 'this one', connectionId: null },
  ...{ input: new Box(''), facts: {}, queuedMs: 0, leftMs: 1000, queuedAtMs: 0, recalled: null },
});
const jobOf = ({ kind, party }: Flow, ids: string[]): Job => ({ kind, work: [{ party, ids }] });
/** Makes work of party `a` with these ids. */
const works = (...ids: string[]) => ids.map((id) => work(id));

const NOTHING: ClaimResult = { claims: [], left: [] };
const someLeft = (claims: Claim[]): ClaimResult => ({ claims, left: [A] });
const noneLeft = (claims: Claim[]): ClaimResult => ({ claims, left: [] });

type Answer = ClaimResult | Error;

/** Makes a pool whose claims get `answers` in turn (the first after `held` resolves), and later find nothing. */
function start(slots: number, answers: Answer[], held: Promise<void> = setImmediate()) {
  const claims: ClaimTerms[] = [];
  const ends: (() => void)[] = [];
  const may = { claim: true };
  const passedOn: Job[] = [];
  let lost = 0;
  const pool = new WorkerPool(slots, kindsOfPool(kinds, 'predict'), {
    terms: { worker: 'this one', oneAtATime: [], recall: 'null', reachMs: 1000 },
    async claim(terms) {
      claims.push(terms);
      await (claims.length === 1 ? held : setImmediate());
      const answer = answers.shift() ?? NOTHING;
      if (answer instanceof Error) throw answer;
      return answer;
    },
    mayClaim: () => may.claim,
    attempt: () => new Promise<void>((resolve) => ends.push(resolve)),
    claimLost() {
      lost += 1;
    },
    passOn: (job) => passedOn.push(job),
    log: createLog('test', 'silent'),
  });
  return { pool, claims, ends, may, passedOn, lost: () => lost };
}

describe('worker pool', () => {
  it('a worker pool takes a job only while it has a free slot, and puts what finds none into another job, once', async () => {
    const answers = [NOTHING, someLeft(works('1')), noneLeft(works('2'))];
    const { pool, ends, passedOn } = start(1, answers);
    await pool.take(jobOf(B, ['0']));
    void pool.take(jobOf(A, ['1', '2']));
    await until(() => passedOn.length === 1);
    assert.deepEqual(passedOn, [jobOf(A, ['2'])]);
    let taken = false;
    const taking = pool.take(jobOf(A, ['2'])).then(() => {
      taken = true;
    });
    await until(() => passedOn.length === 2);
    assert.deepEqual(passedOn[1], { ...jobOf(A, ['2']), passedOn: true });
    void pool.take({ ...jobOf(A, ['2']), passedOn: true });
    await setImmediate();
    assert.equal(passedOn.length, 2);
    assert.equal(taken, false);
    ends[0]?.();
    await taking;
    await until(() => ends.length === 2);
    await pool.close();
    await pool.take(jobOf(A, ['3']));
    assert.deepEqual(passedOn.at(-1), jobOf(A, ['3']), 'a closed pool passes on whatever it gets');
  });

  it('a worker pool that meets a lock on the work of one app claims the work of others at once #locked-rows', async () => {
    const { pool, claims, ends } = start(4, [
      someLeft([work('1', 'b')]),
      someLeft([]),
      noneLeft([work('2', 'b')]),
    ]);
    pool.noteQueued([A, B]);
    await until(() => claims.length === 2);
    await setImmediate();
    pool.noteQueued([B]);
    await setImmediate();
    await setImmediate();
    assert.equal(ends.length, 2);
    await pool.close();
  });
});
