import assert from 'node:assert/strict';
import { createLog } from '../../../shared/log.ts';
import type { Job, Queues } from '../../../shared/queue/queues.ts';
import { openQueues } from '../../../shared/queue/queues.ts';
import { describeOnEachStore } from '../../support/queue-stores.ts';
import { until } from '../../support/until.ts';

const LOG = createLog('test', 'silent');
/** Half of the ten seconds after which an idle worker polls. */
const DELIVERY_MAX_MS = 5000;
const jobOf = (...ids: string[]): Job => ({ kind: 'predict', work: [{ party: 'app', ids }] });
const idsOf = ({ work }: Job) => work.flatMap(({ ids }) => ids);

describeOnEachStore('job queue', (store) => {
  /** Queues of the running test, each as if opened by another process. */
  let opened: Queues[] = [];
  let nth = 0;
  let name = '';
  beforeEach(() => {
    nth += 1;
    name = `test${nth}`;
  });
  afterEach(async () => {
    await Promise.all(opened.map((one) => one.close()));
    opened = [];
  });

  const open = async () => {
    const queues = await openQueues(store().config(), LOG);
    opened.push(queues);
    return queues;
  };

  it('a queue delivers each job to one of four idle processes before any of them polls #bullmq', async () => {
    const queues = await open();
    const taken: Job[] = [];
    for (let n = 0; n < 4; n += 1)
      (await open()).worker(name, async (job) => {
        taken.push(job);
      });
    for (let n = 1; n <= 4; n += 1) {
      const since = performance.now();
      queues.add(name, [jobOf(`${n}`, 'more')]);
      await until(() => taken.length === n);
      assert.ok(performance.now() - since < DELIVERY_MAX_MS, `${performance.now() - since} ms`);
    }
    assert.deepEqual(
      taken,
      [1, 2, 3, 4].map((n) => jobOf(`${n}`, 'more')),
    );
  });

  it('a queue keeps the jobs of two processes until a worker takes them, and the next one after a handler has failed', async () => {
    const [first, second] = await Promise.all([open(), open()]);
    first.add(name, [jobOf('1')]);
    second.add(name, [jobOf('2')]);
    await until(async () => (await store().waiting(name)) === 2);
    const taken: string[] = [];
    (await open()).worker(name, async (job) => {
      taken.push(...idsOf(job));
      if (taken.length === 1) throw new Error('a defect');
    });
    await until(() => taken.length === 2);
    assert.deepEqual(taken.sort(), ['1', '2']);
    await until(async () => (await store().waiting(name)) === 0);
  });

  it('jobs of a kind that come while a job is being added are one job, of at most 16 parties, and keep whether they were passed on', async () => {
    const queues = await open();
    const numbers = Array.from({ length: 20 }, (_, n) => `${n}`);
    queues.add(name, [jobOf('first')]);
    for (const n of numbers) queues.add(name, [jobOf(n)]);
    queues.add(name, [
      { ...jobOf('sync'), kind: 'sync' },
      { ...jobOf('again'), passedOn: true },
    ]);
    const taken: Job[] = [];
    queues.worker(name, async (job) => {
      taken.push(job);
    });
    await until(() => taken.length === 5);
    const inJobs = taken.map((job) => [job.kind, job.passedOn ?? false, idsOf(job)]);
    assert.deepEqual(inJobs[0], ['predict', false, ['first']]);
    const rest = [
      ['predict', false, numbers.slice(0, 16)],
      ['predict', false, numbers.slice(16)],
      ['predict', true, ['again']],
      ['sync', false, ['sync']],
    ];
    assert.deepEqual(inJobs.slice(1).map(String).sort(), rest.map(String).sort());
  });

  it('a worker of a queue closes within two seconds, even while it handles a job', async () => {
    const [taken, handled] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const worker = (await open()).worker(name, () => {
      taken.resolve();
      return handled.promise;
    });
    (await open()).add(name, [jobOf('1')]);
    await taken.promise;
    const since = performance.now();
    await worker.close();
    assert.ok(performance.now() - since < 2000);
    handled.resolve();
  });
});
