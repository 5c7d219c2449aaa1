import assert from 'node:assert/strict';
import { startIngress } from '../../ingress/compose.ts';
import { openUploads } from '../../ingress/recording/uploads.ts';
import { ingressConfig, workerConfig } from '../../shared/config/config.ts';
import { createLog } from '../../shared/log.ts';
import { openQueues } from '../../shared/queue/queues.ts';
import { kinds } from '../../shared/work/kinds.ts';
import { startWorker } from '../../workers/compose.ts';
import { createHandlers } from '../../workers/handlers.ts';
import { useDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

const LOG = createLog('test', 'silent');

describe('composition root', () => {
  const database = useDatabase();

  const values = () => ({
    DATABASE_URL: database.url,
    JWT_SECRET: 'a secret of the tests',
    ADMIN_TOKEN: 'a token of the tests',
    PORT: '0',
    OPERATOR_PORT: '0',
  });
  const service = { kinds, pools: ['predict'] as const, createHandlers };

  /** Reports whether neither a connection nor a lease is left. */
  const nothingIsOpen = async () => {
    const { rows } = await database.pool.query<{ open: number }>(
      `select (select count(*) from pg_stat_activity
                where datname = current_database() and application_name like 'forecue%')::int
            + (select count(*) from processes where alive_until > now())::int as open`,
    );
    return rows[0]?.open === 0;
  };

  /** Makes `close` of a part throw after it has closed the part. */
  const failOnClose = <Part extends { close(): Promise<void> }>(part: Part, message: string): Part => ({
    ...part,
    async close() {
      await part.close();
      throw new Error(message);
    },
  });

  it('an ingress whose start fails midway closes its database connections and ends its lease', async () => {
    const start = startIngress(ingressConfig(values()), LOG, {
      listen: () => Promise.reject(new Error('no port')),
    });
    await assert.rejects(start, { message: 'no port' });
    await until(nothingIsOpen);
  });

  it('a worker whose start fails midway closes its database connections and ends its lease', async () => {
    const createHandlers = () => assert.fail('no handlers');
    const start = startWorker(workerConfig(values()), LOG, { ...service, createHandlers });
    await assert.rejects(start, { message: 'no handlers' });
    await until(nothingIsOpen);
  });

  it('if some parts of a process fail to close, all others are closed and each failure is reported', async () => {
    const ingress = await startIngress(ingressConfig(values()), LOG, {
      openUploads: async (...args) => failOnClose(await openUploads(...args), 'uploads'),
      openQueues: async (...args) => failOnClose(await openQueues(...args), 'queues'),
    });
    await assert.rejects(ingress.stop(), (error) => {
      assert.ok(error instanceof SuppressedError);
      assert.deepEqual([error.suppressed, error.error], [new Error('uploads'), new Error('queues')]);
      return true;
    });
    await until(nothingIsOpen);
  });
});
