import { waitForDatabase } from '../shared/boot.ts';
import type { IngressConfig } from '../shared/config/config.ts';
import { batcher } from '../shared/db/batcher.ts';
import { openDatabase } from '../shared/db/orm.ts';
import { Heartbeat } from '../shared/db/processes.ts';
import { findUsers } from '../shared/db/stores/accounts.ts';
import { findAppsByKey } from '../shared/db/stores/apps.ts';
import { recordEvent } from '../shared/db/stores/prediction-events.ts';
import { recordBatch } from '../shared/db/stores/recording/record.ts';
import { findUsersByKey, markKeysUsed } from '../shared/db/stores/service-keys.ts';
import { readUsage } from '../shared/db/stores/usage.ts';
import { openQueues } from '../shared/jobs/backend.ts';
import type { Queues } from '../shared/jobs/queues.ts';
import type { Running } from '../shared/lifecycle.ts';
import type { Log } from '../shared/log.ts';
import { openOperatorPort } from '../shared/operator-port.ts';
import { AccessTokens } from '../shared/security/access-tokens.ts';
import { kinds } from '../shared/work/kinds.ts';
import { AccountService } from './account-service.ts';
import { createApp } from './app.ts';
import { createCredentials } from './auth/credentials.ts';
import { noteKeyUse } from './auth/key-use.ts';
import { consentPages } from './connect/consent.ts';
import { endingStores } from './ending-stores.ts';
import { FailureThrottle } from './failure-throttle.ts';
import { Lane } from './lane.ts';
import { openLimits } from './limits/open-limits.ts';
import { requestLimits } from './limits/request-limits.ts';
import { serveFiles } from './middleware/files.ts';
import { describeEndpoints } from './openapi/document.ts';
import { publishedFiles } from './openapi/published-files.ts';
import { endpoints } from './routes/index.ts';
import { listen } from './server.ts';
import { openWork } from './work.ts';

/** How long calls may finish after the signal to stop; those that still wait then get 503. */
const DRAIN_MS = 20_000;
const CLOSE_WITHIN_MS = 2000;
const MOST_TOGETHER = 200;
/** Passwords that are hashed at once, 20 MiB and 35 ms of a core each, and those that wait. */
const HASHING = { atOnce: 1, longest: 256 };
/** Uploads that are stored at once, one of each account, and those of an account that wait. */
const UPLOADS = { atOnce: 3, each: 1, longest: 100 };

/** Builds an ingress out of its configuration, in the order in which the parts need each other. */
export async function startIngress(config: IngressConfig, log: Log): Promise<Running> {
  let serving = false;
  let queues: Queues | undefined;
  const database = await openDatabase(config, log, 'forecue web');
  const { pool, orm } = database;
  // Connections of their own: no prediction and no heartbeat waits for one that an upload holds.
  const uploadDatabase = await openDatabase(
    { database: { ...config.database, poolSize: UPLOADS.atOnce } },
    log,
    'forecue web uploads',
  );
  const health = {
    healthy: () => true,
    ready: async () => {
      await Promise.all([pool.query('select 1'), queues?.ping()]);
      return serving;
    },
  };
  const limits = openLimits(config, pool, log);
  const operatorPort = await openOperatorPort(config.operator, health);
  await waitForDatabase(database, config, log);

  const heartbeat = new Heartbeat(pool, { kind: 'web', leaseMs: config.leaseMs, log });
  await heartbeat.start();
  queues = await openQueues(config, log);
  const together = { most: MOST_TOGETHER };
  const work = await openWork({
    config,
    pool,
    em: () => orm.em.fork(),
    queues,
    process: heartbeat.id,
    kinds,
    log,
  });
  const server = await listen(config);
  const publicUrl = config.publicUrl ?? `http://localhost:${server.port}`;
  const tokens = new AccessTokens(publicUrl, config.signingKeys);
  const accounts = new AccountService({
    em: () => orm.em.fork(),
    tokens,
    failures: new FailureThrottle(limits),
    hashing: new Lane(HASHING),
    inviteOnly: config.inviteOnly,
  });
  const uploads = new Lane(UPLOADS);
  const table = endpoints({
    em: () => orm.em.fork(),
    accounts,
    work: work.service,
    ...endingStores(() => orm.em.fork(), work.wakeUps, config.recoveryWindowS),
    publicUrl,
    connectionAttemptTtlS: config.connectionAttemptTtlS,
    recordEvent: (appId, event) => recordEvent(pool, appId, event),
    recordBatch: (accountId, events, gone) =>
      uploads.run(() => recordBatch(uploadDatabase.pool, accountId, events), { party: accountId, gone }),
    contextEnvelopeChars: config.contextEnvelopeChars,
    readUsage: (appId, month) => readUsage(orm.em.fork(), appId, month),
    sandboxUnits: config.sandboxUnits,
    health,
  });
  const countRequest = requestLimits(config.rateLimit, limits);
  const app = createApp({
    endpoints: table,
    pages: [
      serveFiles(publishedFiles(describeEndpoints(table, publicUrl))),
      consentPages({
        em: () => orm.em.fork(),
        accounts,
        countRequest,
        signingKeys: config.signingKeys,
        publicUrl,
        inviteOnly: config.inviteOnly,
      }),
    ],
    credentials: createCredentials(
      {
        app: batcher((hashes: Buffer[]) => findAppsByKey(pool, hashes), together),
        user: {
          byId: batcher((ids: string[]) => findUsers(pool, ids), together),
          byKey: batcher((hashes: Buffer[]) => findUsersByKey(pool, hashes), together),
        },
      },
      tokens,
      noteKeyUse(
        batcher((hashes: Buffer[]) => markKeysUsed(pool, hashes), together),
        log,
      ),
    ),
    countRequest,
    trustProxy: config.trustProxy,
    corsOrigins: config.corsOrigins,
    log,
    isShuttingDown: () => !serving,
  });
  server.serve(app.callback());
  serving = true;

  return {
    url: server.url,
    async stop() {
      serving = false;
      const lastCall = setTimeout(() => work.closeRoom(), DRAIN_MS);
      await server.close(DRAIN_MS + CLOSE_WITHIN_MS);
      clearTimeout(lastCall);
      await work.close();
      await heartbeat.stop();
      await queues?.close();
      await limits.close();
      operatorPort.close();
      await uploadDatabase.close();
      await database.close();
    },
  };
}
