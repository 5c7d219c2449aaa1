import assert from 'node:assert/strict';
import { createPostgresBackend } from 'bullmq';
import { createLog } from '../../../shared/log.ts';
import { openQueues } from '../../../shared/queue/backend.ts';
import { ReplacedWorker } from '../../../shared/queue/ticket-worker.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { until } from '../../support/until.ts';

const LOG = createLog('test', 'silent');

describe('a worker of tickets', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createDatabase();
  });
  after(() => database.drop());

  it('reports that its BullMQ worker stopped fetching, and replaces it', async () => {
    const { url } = database;
    let made = 0;
    const released: number[] = [];
    const consumer = () => {
      made += 1;
      const nth = made;
      const options = { connection: { connectionString: url, schema: 'forecue_queue' } };
      return { options, release: () => void released.push(nth) };
    };
    /** The first of them gets neither an answer nor an error, as a worker of BullMQ 6.2 did (issue 4585). */
    const factory: typeof createPostgresBackend = (...of) => {
      const backend = createPostgresBackend(...of);
      if (made === 1) backend.moveToActive = () => new Promise(() => {});
      return backend;
    };
    let taken = 0;
    const take = async () => {
      taken += 1;
    };
    const worker = new ReplacedWorker('dead', take, { factory, consumer, log: LOG });
    const config = {
      database: { url, directUrl: url, poolSize: 4 },
      queuePrefix: 'forecue',
      redis: undefined,
    };
    const queues = await openQueues(config, LOG);
    try {
      await queues.queue('dead').add(['a']);
      await until(() => worker.silentMs > 3000, 5000);
      assert.equal(taken, 0);
      await until(() => taken === 1, 5000);
      await until(() => worker.silentMs < 1500);
      await until(() => released.includes(1));
    } finally {
      await worker.close();
      await queues.close();
    }
    assert.deepEqual(released, [1, 2]);
  });
});
