import type Koa from 'koa';
import type { IngressConfig } from '../shared/config/config.ts';
import { assembleContext } from '../shared/db/stores/memory/context.ts';
import { recordEvent } from '../shared/db/stores/prediction-events.ts';
import { findJobs, isErased } from '../shared/db/stores/work/find.ts';
import type { Log } from '../shared/log.ts';
import type { RunningProcess } from '../shared/process/lifecycle.ts';
import { ResetLinks } from './accounts/reset-links.ts';
import { AccountService } from './accounts/service.ts';
import { openWaitlist } from './accounts/waitlist.ts';
import { AccessTokens } from './auth/access-tokens.ts';
import { openCredentials } from './auth/credentials.ts';
import { ConnectionService } from './connect/connections.ts';
import { ConsentPages, connectPageMiddleware } from './connect/consent.ts';
import { PasswordPages } from './connect/passwords.ts';
import { consoleFiles } from './console/files.ts';
import { RefreshCookie } from './console/refresh-cookie.ts';
import { accountTurns } from './guards/account-turns.ts';
import { createApp } from './http/app.ts';
import { isEndpoint } from './http/endpoint.ts';
import { JobService } from './jobs/service.ts';
import { CredentialThrottle } from './limits/credential-throttle.ts';
import { requestLimits } from './limits/request-limits.ts';
import { OPENERS, type OpenedParts, openParts } from './open.ts';
import { publishedFiles } from './openapi/published-files.ts';
import { FrontPage } from './pages/front.ts';
import { DraftService } from './predictions/drafts.ts';
import { PredictionService } from './predictions/service.ts';
import { RecordingService } from './recording/service.ts';
import { batchView } from './replies/batch.ts';
import { ReplyService } from './replies/service.ts';
import { routes } from './routes/index.ts';
import type { Parts } from './routes/parts.ts';
import { accountEraser, endingStores } from './work/ending-stores.ts';

/**
 * Starts an ingress. A start that fails closes what it has opened, and a stop closes everything in reverse order. Tests
 * replace parts by passing other `openers`.
 */
export async function startIngress(
  config: IngressConfig,
  log: Log,
  openers: Partial<typeof OPENERS> = {},
): Promise<RunningProcess> {
  await using opening = new AsyncDisposableStack();
  const parts = await openParts(opening, { ...OPENERS, ...openers }, config, log);
  parts.server.serve(composeApp(config, parts, log).callback());
  parts.health.serving = true;
  const opened = opening.move();
  return { url: parts.server.url, operatorUrl: parts.operator.url, stop: () => opened.disposeAsync() };
}

/** Maximum shares of the database connections. Requests that count many rows use the share for changes. */
const CONTEXT_CONNECTION_SHARE = 1 / 5;
const SEARCH_CONNECTION_SHARE = 1 / 5;
const CHANGE_CONNECTION_SHARE = 1 / 2;

function composeApp(config: IngressConfig, open: OpenedParts, log: Log): Koa {
  const { pool, em, uploads, limits, refusals, work, health, mailer, server } = open;
  const { signingKeys, inviteOnly, connectionAttemptTtlS, trustProxy, corsOrigins, sendTimeoutMs } = config;
  const publicUrl = config.publicUrl ?? `http://localhost:${server.port}`;
  const tokens = new AccessTokens(publicUrl, signingKeys);
  const countRequest = requestLimits(config.rateLimit, limits);
  const ending = endingStores(em, work.endingOptions, log);
  const takeTurn = accountTurns(config.database.poolSize, CHANGE_CONNECTION_SHARE);
  const accounts = new AccountService(config, { em, takeTurn, tokens, limits, log });
  const servedRoutes = routes.filter(({ path }) => config.console || !path.startsWith('/console'));
  const parts: Parts = {
    em,
    accounts,
    joinWaitlist: openWaitlist({ em, limits }),
    ...ending,
    connections: new ConnectionService({ em, stores: ending, takeTurn, publicUrl, connectionAttemptTtlS }),
    eraseAccount: accountEraser(ending, log),
    predictions: new PredictionService(work.service, config.contextEnvelopeChars),
    drafts: new DraftService(work.service, config.contextEnvelopeChars),
    recordEvent: (appId, event) => recordEvent(pool, appId, event),
    sandboxUnits: config.sandboxUnits,
    assembleContext: (accountId, query, reading) => assembleContext(em(), accountId, query, reading),
    takeContextTurn: accountTurns(config.database.poolSize, CONTEXT_CONNECTION_SHARE),
    takeSearchTurn: accountTurns(config.database.poolSize, SEARCH_CONNECTION_SHARE),
    jobs: new JobService({
      work: work.service,
      find: (named, kinds, withinMs) => findJobs(pool, named, kinds, withinMs),
      isErased: (accountId) => isErased(pool, accountId),
      views: { predict_batch: batchView(pool, em) },
      sendTimeoutMs,
      log,
    }),
    publicUrl,
    supportedModels: config.supportedModels,
    replies: new ReplyService({ work: work.service, em, ...config }),
    recording: new RecordingService({ em, recordBatch: uploads.recordBatch }),
    health,
    front: new FrontPage({
      health,
      publicUrl,
      hasConsole: config.console,
      production: config.production,
    }),
    consent: new ConsentPages({
      em,
      accounts,
      takeTurn,
      signingKeys,
      publicUrl,
      inviteOnly,
      production: config.production,
      hasConsole: config.console,
    }),
    passwords: new PasswordPages({
      accounts,
      resetLinks: new ResetLinks({ em, mailer, limits, publicUrl }),
      signingKeys,
      publicUrl,
      hasConsole: config.console,
    }),
    refreshCookie: new RefreshCookie(publicUrl),
    sendFile: publishedFiles(servedRoutes.filter(isEndpoint), config.publicUrl),
    sendConsole: consoleFiles(log),
  };
  const throttle = new CredentialThrottle(config.rateLimit && limits);
  const credentials = openCredentials(pool, tokens, throttle, log);
  return createApp({
    routes: servedRoutes,
    parts,
    pages: connectPageMiddleware,
    credentials,
    countRequest,
    takeTurn,
    refusals,
    trustProxy,
    corsOrigins,
    sendTimeoutMs,
    log,
    isShuttingDown: () => !health.serving,
  });
}
