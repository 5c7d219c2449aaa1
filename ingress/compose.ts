import type Koa from 'koa';
import { waitForDatabase } from '../shared/boot.ts';
import type { IngressConfig } from '../shared/config/config.ts';
import { openDatabase } from '../shared/db/orm.ts';
import { openHeartbeat } from '../shared/db/processes.ts';
import { assembleContext } from '../shared/db/stores/memory/context.ts';
import { recordEvent } from '../shared/db/stores/prediction-events.ts';
import { findJob } from '../shared/db/stores/work/jobs.ts';
import { ProcessHealth } from '../shared/health.ts';
import { close, type Running } from '../shared/lifecycle.ts';
import type { Log } from '../shared/log.ts';
import { openOperatorPort } from '../shared/operator-port.ts';
import { openQueues } from '../shared/queue/backend.ts';
import { AccessTokens } from '../shared/security/access-tokens.ts';
import { STOP_LIMITS } from '../shared/stop-limits.ts';
import { kinds } from '../shared/work/kinds.ts';
import { accountEraser } from './accounts/erase.ts';
import { openAccounts } from './accounts/open.ts';
import { openWaitlist } from './accounts/waitlist.ts';
import { openCredentials } from './auth/open.ts';
import { ConnectionService } from './connect/connections.ts';
import { ConsentPages, consentShell } from './connect/consent.ts';
import { trustOf } from './http/address.ts';
import { createApp } from './http/app.ts';
import { connectionLimits } from './http/connection-limits.ts';
import { type Listening, listen } from './http/server.ts';
import { JobService } from './jobs/service.ts';
import { CredentialThrottle } from './limits/credential-throttle.ts';
import { openLimits } from './limits/open-limits.ts';
import { requestLimits } from './limits/request-limits.ts';
import { openSearches } from './memory/searches.ts';
import { publishedFiles } from './openapi/published-files.ts';
import { PredictionService } from './predictions/service.ts';
import { RecordingService } from './recording/service.ts';
import { openUploads } from './recording/uploads.ts';
import { batchView } from './replies/batch.ts';
import { ReplyService } from './replies/service.ts';
import { endpoints, type Parts, routes } from './routes/index.ts';
import { usageReporter } from './usage/report.ts';
import { endingStores } from './work/ending-stores.ts';
import { openWork, type Work } from './work/open.ts';

const SHARED = { openDatabase, openOperatorPort, waitForDatabase, openHeartbeat, openQueues };
const OPENERS = { ...SHARED, openUploads, openLimits, openWork, listen };

/**
 * Builds an ingress from its configuration. Each part is registered for disposal where it is opened: a start that fails
 * closes what it has opened, a stop closes everything in reverse order, and a part that fails to close does not keep the
 * others from closing.
 *
 * A test replaces a part by its opener: `startIngress(config, log, { openQueues: async () => brokenQueues })`.
 */
export async function startIngress(
  config: IngressConfig,
  log: Log,
  replaced: Partial<typeof OPENERS> = {},
): Promise<Running> {
  await using opening = new AsyncDisposableStack();
  const parts = await openParts(opening, { ...OPENERS, ...replaced }, config, log);
  parts.server.serve(composeApp(config, parts, log).callback());
  parts.health.serving = true;
  const opened = opening.move();
  return { url: parts.server.url, stop: () => opened.disposeAsync() };
}

/** Opens everything that has to be closed, in the order in which the parts need each other. */
async function openParts(
  opening: AsyncDisposableStack,
  open: typeof OPENERS,
  config: IngressConfig,
  log: Log,
) {
  const health = new ProcessHealth();
  const database = opening.adopt(await open.openDatabase(config, log, 'forecue web'), close);
  const { pool, orm } = database;
  health.require(() => pool.query('select 1'));
  const limits = opening.adopt(open.openLimits(config, pool, log), close);
  opening.adopt(await open.openOperatorPort(config.operator, health), close);
  await open.waitForDatabase(database, config, log);

  const lease = { kind: 'web', leaseMs: config.leaseMs, log };
  const heartbeat = await open.openHeartbeat(opening, pool, lease);
  const queues = opening.adopt(await open.openQueues(config, log), close);
  health.require(() => queues.ping());
  const em = () => orm.em.fork();
  const needs = { config, pool, em, queues, process: heartbeat.id, kinds, log };
  const work = await open.openWork(opening, needs);
  health.watch(heartbeat, work.wakeUps);
  const limit = connectionLimits(config.connections, trustOf(config.trustProxy), log);
  const uploads = opening.adopt(await open.openUploads(config, () => work.isBusy, log), close);
  const server = opening.adopt(await open.listen(config, limit), (one) => drain(one, work, health));
  return { pool, em, uploads, limits, work, health, server };
}

/** The application over the open parts: its stores, with their terms bound, its routes and credentials. */
function composeApp(config: IngressConfig, open: Awaited<ReturnType<typeof openParts>>, log: Log): Koa {
  const { pool, em, uploads, limits, work, health, server } = open;
  const { signingKeys, inviteOnly, connectionAttemptTtlS, trustProxy, corsOrigins, sendTimeoutMs } = config;
  const publicUrl = config.publicUrl ?? `http://localhost:${server.port}`;
  const tokens = new AccessTokens(publicUrl, signingKeys);
  const accounts = openAccounts(config, { em, tokens, limits, log });
  const countRequest = requestLimits(config.rateLimit, limits);
  const ending = endingStores(em, work.wakeUps, config.recoveryWindowS);
  const parts: Parts = {
    em,
    accounts,
    joinWaitlist: openWaitlist({ em, limits }),
    ...ending,
    connections: new ConnectionService({ em, exchange: ending.exchange, publicUrl, connectionAttemptTtlS }),
    eraseAccount: accountEraser(ending),
    predictions: new PredictionService(work.service, config.contextEnvelopeChars),
    recordEvent: (appId, event) => recordEvent(pool, appId, event),
    reportUsage: usageReporter(em, config.sandboxUnits),
    assembleContext: (accountId, asked, reserve) => assembleContext(pool, accountId, asked, reserve),
    search: openSearches(config.database.poolSize),
    jobs: new JobService({
      work: work.service,
      find: (named) => findJob(pool, named),
      views: { predict_batch: batchView(em) },
    }),
    publicUrl,
    supportedModels: config.supportedModels,
    replies: new ReplyService({ work: work.service, em, ...config }),
    recording: new RecordingService({ em, recordBatch: uploads.recordBatch }),
    health,
    consent: new ConsentPages({ em, accounts, countRequest, signingKeys, publicUrl, inviteOnly }),
    files: publishedFiles(endpoints, publicUrl),
  };
  const throttle = new CredentialThrottle(config.rateLimit && limits);
  const credentials = openCredentials(pool, tokens, throttle, log);
  const isShuttingDown = () => !health.serving;
  const shell = { credentials, countRequest, trustProxy, corsOrigins, sendTimeoutMs, log, isShuttingDown };
  return createApp({ routes, parts, pages: consentShell, ...shell });
}

/** Lets calls finish; those that still wait at the limit get 503, and a moment to receive it. */
async function drain(server: Listening, work: Work, health: ProcessHealth): Promise<void> {
  health.serving = false;
  const lastCall = setTimeout(() => work.closeRoom(), STOP_LIMITS.ingressDrain);
  await server.close(STOP_LIMITS.ingressConnections);
  clearTimeout(lastCall);
}
