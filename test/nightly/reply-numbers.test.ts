import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { ReplyResponse } from '../../shared/schemas/replies.ts';
import type { ReplyCalibration, ReplyStats } from '../../shared/schemas/reply-figures.ts';
import { signUp, type UserClient } from '../support/account.ts';
import * as fake from '../support/fake-provider.ts';
import { add, forget } from '../support/memory.ts';
import { feedback, predictReply, predictSuccessfully, proposeReplies } from '../support/replies.ts';
import { useSystem } from '../support/system.ts';

const REPLY = 'Under the third blue flowerpot of the garden';
const LIKELIHOODS = ['very_unlikely', 'unlikely', 'even', 'likely', 'almost_certain'];

interface Row {
  id: string;
  status: keyof ReplyStats['by_status'];
  confidence: number;
  label: boolean | null;
}

const place = fc.nat(50);
const given = fc.constantFrom(
  { status: 'accepted' },
  { status: 'accepted', actual_response: REPLY },
  { status: 'edited', actual_response: `${REPLY}!` },
  { status: 'edited', actual_response: 'Navy' },
  { status: 'rejected' },
);
/** Generates a step in the life of an account's predictions. The last three kinds must not change the statistics. */
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ predict: fc.constantFrom(0.01, 0.8, 1) }) },
  { weight: 1, arbitrary: fc.constant({ fail: true }) },
  {
    weight: 5,
    arbitrary: fc.record({ decide: fc.array(fc.tuple(place, given), { minLength: 1, maxLength: 5 }) }),
  },
  { weight: 2, arbitrary: fc.record({ repeat: place }) },
  { weight: 2, arbitrary: fc.constant({ forget: true }) },
  { weight: 1, arbitrary: fc.constant({ restart: true }) },
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

describe('prediction statistics', function () {
  this.timeout(300_000);
  const system = useSystem();
  let ann: UserClient;

  const get = async <Body>(path: string) => (await ann.request<Body>('GET', `/api/predictions/${path}`)).body;
  const numbers = async () => ({
    stats: await get<ReplyStats>('stats/'),
    calibration: await get<ReplyCalibration>('calibration/'),
  });
  const restart = async () => {
    const [worker] = system.workers.splice(0, 1);
    await worker?.stop();
    await system.startWorker();
  };
  const rows = async (): Promise<Row[]> => {
    const { rows: found } = await system.database.pool.query(
      'select id, status, confidence, label from replies where account_id = $1 order by id',
      [ann.id],
    );
    return found;
  };

  const perform = async (one: Step): Promise<void> => {
    const made = await rows();
    const at = (n: number) => made[n % made.length] ?? { id: '' };
    if ('predict' in one) await predictSuccessfully(ann, { threshold: one.predict });
    else if ('fail' in one) {
      system.provider.next(fake.lengthStop());
      assert.equal((await predictReply(ann)).status, 502);
    } else if ('restart' in one) await restart();
    else if ('forget' in one) {
      const [fact] = (await ann.request<{ results: { id: string }[] }>('GET', '/api/memory/facts/')).body
        .results;
      if (fact !== undefined) await forget(ann, 'facts', fact);
    } else if (made.length === 0) return;
    else if ('repeat' in one) {
      const { id } = at(one.repeat);
      const { body } = await ann.request<{ status: string; actual_response: string | null }>(
        'GET',
        `/api/predictions/${id}/`,
      );
      const { status, actual_response } = body;
      if (['accepted', 'edited', 'rejected'].includes(status))
        await feedback(ann, { id }, { status, actual_response });
    } else await Promise.all(one.decide.map(([n, decision]) => feedback(ann, at(n), decision)));
  };

  it('reply statistics equal a recount of the replies after any sequence of predictions, decisions, deletions and restarts #reply-numbers', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 16 }), async (steps) => {
        ann = await signUp(system);
        system.provider.respond(proposeReplies([{ response: REPLY, likelihood: 'likely' }]));
        for (let n = 0; n < 3; n += 1) await add(ann, 'facts', { text: `${REPLY}, says note ${n}` });
        let before = await numbers();
        for (const one of steps) {
          await perform(one);
          const now = await numbers();
          assertRecount(now, await rows());
          if ('repeat' in one || 'forget' in one || 'restart' in one) assert.deepEqual(now, before);
          before = now;
        }
      }),
      { numRuns: 8 },
    );
  });

  it("calibrated confidence never falls as the model's likelihood rises, and survives a restart of the worker #reply-numbers", async () => {
    const decisions = fc.array(fc.tuple(fc.constantFrom(...LIKELIHOODS), given), { maxLength: 12 });
    const probe = async () => {
      const confidences: number[] = [];
      for (const likelihood of LIKELIHOODS) {
        system.provider.respond(proposeReplies([{ response: REPLY, likelihood }]));
        confidences.push((await predictSuccessfully(ann, { threshold: 1 })).confidence);
      }
      return confidences;
    };
    await fc.assert(
      fc.asyncProperty(decisions, async (made) => {
        ann = await signUp(system);
        for (const [likelihood, decision] of made) {
          system.provider.respond(proposeReplies([{ response: REPLY, likelihood }]));
          const reply: ReplyResponse = await predictSuccessfully(ann);
          assert.equal((await feedback(ann, reply, decision)).status, 200);
        }
        const confidences = await probe();
        assert.deepEqual(
          confidences,
          confidences.toSorted((a, b) => a - b),
        );
        await restart();
        assert.deepEqual(await probe(), confidences);
      }),
      { numRuns: 5 },
    );
  });
});

function assertRecount(
  { stats, calibration }: { stats: ReplyStats; calibration: ReplyCalibration },
  rows: readonly Row[],
): void {
  const count = (...of: string[]) => rows.filter(({ status }) => of.includes(status)).length;
  const answered = count('auto', 'accepted', 'edited', 'rejected');
  assert.deepEqual(stats, {
    total: rows.length,
    by_status: Object.fromEntries(Object.keys(stats.by_status).map((status) => [status, count(status)])),
    precision: answered === 0 ? null : count('auto', 'accepted') / answered,
    automation_rate: rows.length === 0 ? null : answered / rows.length,
  });
  assert.equal(Object.keys(stats.by_status).length, 6);
  const labelled = rows.filter(({ label }) => label !== null);
  assert.equal(calibration.feedback_count, labelled.length);
  const squares = labelled.map(({ confidence, label }) => (confidence - Number(label)) ** 2);
  const brier = squares.reduce((sum, square) => sum + square, 0) / squares.length;
  if (labelled.length === 0) assert.equal(calibration.brier, null);
  else assert.ok(Math.abs((calibration.brier ?? -1) - brier) < 1e-9);
}
