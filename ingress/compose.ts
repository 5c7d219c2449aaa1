import type Koa from 'koa';
import type { IngressConfig } from '../shared/config/config.ts';
import { assembleContext } from '../shared/db/stores/memory/context.ts';
import { recordEvent } from '../shared/db/stores/prediction-events.ts';
import { findJobs, isErased } from '../shared/db/stores/work/find.ts';
import type { Log } from '../shared/log.ts';
import type { RunningProcess } from '../shared/process/lifecycle.ts';
import { kinds } from '../shared/work/kinds.ts';
import { accountEraser } from './accounts/erase.ts';
import { ResetLinks } from './accounts/reset-links.ts';
import { AccountService } from './accounts/service.ts';
import { openWaitlist } from './accounts/waitlist.ts';
import { AccessTokens } from './auth/access-tokens.ts';
import { openCredentials } from './auth/credentials.ts';
import { connectionChanges } from './connect/connection-changes.ts';
import { ConnectionService } from './connect/connections.ts';
import { ConsentPages, connectPageMiddleware } from './connect/consent.ts';
import { PasswordPages } from './connect/passwords.ts';
import { consoleFiles } from './console/files.ts';
import { RefreshCookie } from './console/refresh-cookie.ts';
import { accountTurns } from './guards/account-turns.ts';
import { isEndpoint } from './http/endpoint.ts';
import { createKoa } from './http/koa.ts';
import { JobService } from './jobs/service.ts';
import { CredentialThrottle } from './limits/credential-throttle.ts';
import { requestLimits } from './limits/request-limits.ts';
import { type OpenedParts, openParts } from './open.ts';
import { publishedFiles } from './openapi/published-files.ts';
import { frontPage } from './pages/front.ts';
import { draftPredictor } from './predictions/drafts.ts';
import { PredictionService } from './predictions/service.ts';
import { RecordingService } from './recording/service.ts';
import { batchView } from './replies/batch.ts';
import { ReplyService } from './replies/service.ts';
import { routes } from './routes/index.ts';
import type { Parts } from './routes/parts.ts';
import { ANSWER_GRACE_MS } from './work/service.ts';

/** Starts an ingress. A start that fails closes what it has opened, and a stop closes everything in reverse order. */
export async function startIngress(config: IngressConfig, log: Log): Promise<RunningProcess> {
  await using opening = new AsyncDisposableStack();
  const parts = await openParts(opening, config, log);
  parts.server.serve(composeKoa(config, parts, log).callback());
  parts.health.serving = true;
  const opened = opening.move();
  return { url: parts.server.url, operatorUrl: parts.operator.url, stop: () => opened.disposeAsync() };
}

/** Maximum shares of the database connections. Requests that count many rows use the share for changes. */
const CONTEXT_CONNECTION_SHARE = 1 / 5;
const SEARCH_CONNECTION_SHARE = 1 / 5;
const CHANGE_CONNECTION_SHARE = 1 / 2;

function composeKoa(config: IngressConfig, open: OpenedParts, log: Log): Koa {
  const { pool, em, uploads, limits, refusals, work, health, mailer, server } = open;
  const publicUrl = config.publicUrl ?? `http://localhost:${server.port}`;
  const tokens = new AccessTokens(publicUrl, config.signingKeys);
  const countRequest = requestLimits(config.rateLimit, limits);
  const changes = connectionChanges(em, work.endingOptions, log);
  const takeTurn = accountTurns(config.database.poolSize, CHANGE_CONNECTION_SHARE);
  const accounts = new AccountService(config, { em, takeTurn, tokens, limits, mailer, publicUrl, log });
  const servedRoutes = routes.filter(({ path }) => config.console || !path.startsWith('/console'));
  // Settings and services that many parts share.
  const common = { ...config, em, accounts, takeTurn, health, publicUrl };
  const parts: Parts = {
    em,
    accounts,
    joinWaitlist: openWaitlist({ em, limits }),
    connections: new ConnectionService({ ...common, changes }),
    revokeConnection: changes.revokeConnection,
    eraseAccount: accountEraser(em, work.endingOptions, log),
    predictions: new PredictionService(work.service, config.contextEnvelopeChars),
    predictDraft: draftPredictor(work.service, config.contextEnvelopeChars),
    recordEvent: (appId, event) => recordEvent(pool, appId, event),
    sandboxUnits: config.sandboxUnits,
    tokenQuotas: config.tokenQuotas,
    assembleContext: (accountId, query, reading) => assembleContext(em(), accountId, query, reading),
    takeContextTurn: accountTurns(config.database.poolSize, CONTEXT_CONNECTION_SHARE),
    takeSearchTurn: accountTurns(config.database.poolSize, SEARCH_CONNECTION_SHARE),
    jobs: new JobService({
      work: work.service,
      find: (named, kinds, withinMs) => findJobs(pool, named, kinds, withinMs),
      isErased: (accountId) => isErased(pool, accountId),
      views: { predict_batch: batchView(em) },
      sendTimeoutMs: config.sendTimeoutMs,
      log,
    }),
    publicUrl,
    supportedModels: config.supportedModels,
    replies: new ReplyService({ ...common, work: work.service }),
    recording: new RecordingService({ em, recordBatch: uploads.recordBatch }),
    health,
    showFront: frontPage(common),
    consent: new ConsentPages(common),
    passwords: new PasswordPages({
      ...common,
      resetLinks: new ResetLinks({ em, mailer, limits, publicUrl }),
    }),
    refreshCookie: new RefreshCookie(publicUrl),
    sendFile: publishedFiles(servedRoutes.filter(isEndpoint), config.publicUrl),
    sendConsole: consoleFiles(log),
  };
  const throttle = new CredentialThrottle(config.rateLimit && limits);
  const credentials = openCredentials({ pool, em }, tokens, throttle, log);
  return createKoa({
    ...config,
    publicUrl,
    routes: servedRoutes,
    parts,
    pages: connectPageMiddleware,
    credentials,
    countRequest,
    takeTurn,
    checksTimeoutMs:
      Math.min(...Object.values(kinds).map(({ deadline }) => config[deadline])) + ANSWER_GRACE_MS,
    refusals,
    log,
    isShuttingDown: () => !health.serving,
  });
}
