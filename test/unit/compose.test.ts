import assert from 'node:assert/strict';
import { startIngress } from '../../ingress/compose.ts';
import { listen } from '../../ingress/http/server.ts';
import { openUploads } from '../../ingress/recording/uploads.ts';
import { ingressConfig, workerConfig } from '../../shared/config/config.ts';
import { createLog } from '../../shared/log.ts';
import { errorsOf } from '../../shared/process/lifecycle.ts';
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

  it('an ingress gives up the lead of the housekeeping as soon as it begins to drain', async () => {
    const drained = Promise.withResolvers<void>();
    const isDraining = Promise.withResolvers<void>();
    const ingress = await startIngress(ingressConfig(values()), LOG, {
      async listen(...args) {
        const server = await listen(...args);
        const close = async (withinMs: number) => {
          isDraining.resolve();
          await drained.promise;
          await server.close(withinMs);
        };
        return { ...server, close };
      },
    });
    const isLed = async () => {
      const { rowCount } = await database.pool.query(`select from leases where until > now()`);
      return rowCount === 1;
    };
    await until(isLed);
    const stopped = ingress.stop();
    try {
      await isDraining.promise;
      await until(async () => !(await isLed()));
    } finally {
      drained.resolve();
      await stopped;
    }
  });

  it('if some parts of a process fail to close, all others are closed and each failure is reported', async () => {
    const ingress = await startIngress(ingressConfig(values()), LOG, {
      openUploads: async (...args) => failOnClose(await openUploads(...args), 'uploads'),
      openQueues: async (...args) => failOnClose(await openQueues(...args), 'queues'),
    });
    const stopped = await ingress.stop().catch((error: unknown) => [...errorsOf(error)]);
    assert.deepEqual(stopped, [new Error('uploads'), new Error('queues')]);
    await until(nothingIsOpen);
  });
});
