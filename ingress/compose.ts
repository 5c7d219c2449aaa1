import { waitForDatabase } from '../shared/boot.ts';
import type { IngressConfig } from '../shared/config/config.ts';
import { combine } from '../shared/db/combine.ts';
import { openDatabase } from '../shared/db/orm.ts';
import { Presence } from '../shared/db/processes.ts';
import { findUsers } from '../shared/db/stores/accounts.ts';
import { findAppsByKey } from '../shared/db/stores/apps.ts';
import { recordEvent } from '../shared/db/stores/prediction-events.ts';
import { type Admission, admit } from '../shared/db/stores/predictions/admit.ts';
import { detach } from '../shared/db/stores/predictions/detach.ts';
import { type Ending, end } from '../shared/db/stores/predictions/end.ts';
import { endedAmong, findByRequest, outcomesOf } from '../shared/db/stores/predictions/outcome.ts';
import { queueState } from '../shared/db/stores/predictions/queue-state.ts';
import { recordBatch } from '../shared/db/stores/recording/record.ts';
import { findUsersByKey, markKeysUsed } from '../shared/db/stores/service-keys.ts';
import { readUsage } from '../shared/db/stores/usage.ts';
import { openQueues } from '../shared/jobs/backend.ts';
import { createDispatch } from '../shared/jobs/dispatch.ts';
import type { Queues } from '../shared/jobs/queues.ts';
import { openWakeUps } from '../shared/jobs/wake-ups.ts';
import type { Running } from '../shared/lifecycle.ts';
import type { Log } from '../shared/log.ts';
import { openOperatorPort } from '../shared/operator-port.ts';
import { AccessTokens } from '../shared/security/access-tokens.ts';
import { AccountService } from './account-service.ts';
import { createApp } from './app.ts';
import { createCredentials } from './auth/credentials.ts';
import { noteKeyUse } from './auth/key-use.ts';
import { consentPages } from './connect/consent.ts';
import { FailureThrottle } from './failure-throttle.ts';
import { Lane } from './lane.ts';
import { openLimits } from './limits/open-limits.ts';
import { requestLimits } from './limits/request-limits.ts';
import { LoadMonitor } from './load-monitor.ts';
import { serveFiles } from './middleware/files.ts';
import { describeEndpoints } from './openapi/document.ts';
import { publishedFiles } from './openapi/published-files.ts';
import { PredictionService } from './prediction-service.ts';
import { endpoints } from './routes/index.ts';
import { listen } from './server.ts';
import { WaitingRoom } from './waiting-room.ts';

/** How long calls may finish after the signal to stop; those that still wait then get 503. */
const DRAIN_MS = 20_000;
const FAREWELL_MS = 2000;
const MOST_TOGETHER = 200;
/** How long after its deadline a call gets its answer at the latest. */
const LATEST_MS = 900;
/** Passwords that are hashed at once, 20 MiB and 35 ms of a core each, and those that wait. */
const HASHING = { atOnce: 1, longest: 256 };

/** Builds an ingress out of its configuration, in the order in which the parts need each other. */
export async function startIngress(config: IngressConfig, log: Log): Promise<Running> {
  let serving = false;
  let queues: Queues | undefined;
  const database = await openDatabase(config, log, 'forecue web');
  const { pool, orm } = database;
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

  const presence = new Presence(pool, { kind: 'web', leaseMs: config.leaseMs, log });
  await presence.enter();
  const terms = {
    process: presence.id,
    timeoutMs: config.predictionTimeoutMs,
    recoveryWindowS: config.recoveryWindowS,
    sandboxUnits: config.sandboxUnits,
    unitPriceMicrocents: config.unitPriceMicrocents,
  };
  queues = await openQueues(config, log);
  const together = { most: MOST_TOGETHER };
  const rows = {
    look: combine((ids: string[]) => outcomesOf(pool, ids), together),
    sweep: (ids: string[], options: { withinMs: number }) => endedAmong(pool, ids, options),
  };
  const room = new WaitingRoom(rows, log);
  const wakeUps = await openWakeUps(config, pool, { channel: 'ended', wake: (ids) => room.wake(ids) }, log);
  const load = new LoadMonitor(
    () => queueState(pool),
    () => room.isBusy,
    {
      deadlineMs: config.predictionTimeoutMs,
      log,
    },
  );
  const predictions = new PredictionService({
    admit: combine((batch: Admission[]) => admit(pool, batch, terms), together),
    load,
    dispatch: createDispatch(queues.queue('predict')),
    end: combine((batch: Ending[]) => end(pool, batch, config.recoveryWindowS), together),
    detach: combine(async (ids: string[]) => {
      // Somebody may have come back while the word of the leaving was on its way.
      const left = ids.filter((id) => !room.awaits(id));
      const unwanted = await detach(pool, left, presence.id);
      return ids.map((id) => unwanted[left.indexOf(id)]);
    }, together),
    find: (appId, requestId) => findByRequest(pool, appId, requestId),
    room,
    wakeUps,
    log,
    answerWithinMs: config.predictionTimeoutMs + LATEST_MS,
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
  const table = endpoints({
    em: () => orm.em.fork(),
    accounts,
    predictions,
    publicUrl,
    connectionAttemptTtlS: config.connectionAttemptTtlS,
    recoveryWindowS: config.recoveryWindowS,
    recordEvent: (appId, event) => recordEvent(pool, appId, event),
    recordBatch: (accountId, events) => recordBatch(pool, accountId, events),
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
        app: combine((hashes: Buffer[]) => findAppsByKey(pool, hashes), together),
        user: {
          byId: combine((ids: string[]) => findUsers(pool, ids), together),
          byKey: combine((hashes: Buffer[]) => findUsersByKey(pool, hashes), together),
        },
      },
      tokens,
      noteKeyUse(
        combine((hashes: Buffer[]) => markKeysUsed(pool, hashes), together),
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
      const lastCall = setTimeout(() => room.close(), DRAIN_MS);
      await server.close(DRAIN_MS + FAREWELL_MS);
      clearTimeout(lastCall);
      room.close();
      load.close();
      await wakeUps.close();
      await presence.leave();
      await queues?.close();
      await limits.close();
      operatorPort.close();
      await database.close();
    },
  };
}
